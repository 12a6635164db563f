import { execFileSync } from 'node:child_process';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** Comes to the environment that it sees, and that which a program sees that it starts. */
export const exhibitor = defineAgent({
  name: 'exhibitor',
  run() {
    const child = execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)'], { encoding: 'utf8' });
    return { own: { ...process.env } as Record<string, string>, child: JSON.parse(child) };
  },
});
