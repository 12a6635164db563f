import { openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { defineAgent } from '../../src/worker/define-agent.ts';

/**
 * Emits `count` events and awaits one in each `burst`. Writes to `file`, which outlives its worker and its server, the
 * number of each event when it hears that it is stored, and `refused` for one that is not.
 *
 * With `dies` it ends its whole worker: right behind the call that emits number `at`, or on hearing that it is stored.
 */
export const flooder = defineAgent({
  name: 'flooder',
  input: z.object({
    file: z.string(),
    count: z.int(),
    burst: z.int(),
    padBytes: z.int().default(0),
    dies: z
      .object({ when: z.enum(['called', 'stored']), at: z.int() })
      .nullable()
      .default(null),
  }),
  async run(task, { file, count, burst, padBytes, dies }) {
    const out = openSync(file, 'a');
    const pad = 'x'.repeat(padBytes);
    const pass = (when: 'called' | 'stored', n: number) => {
      if (dies?.when === when && dies.at === n) process.exit(1);
    };
    const stored = (n: number) => {
      writeSync(out, `${n}\n`);
      pass('stored', n);
    };
    let last = Promise.resolve();
    for (let n = 0; n < count; n++) {
      last = task.emit('flood.tick', { n, pad }).then(
        () => stored(n),
        () => void writeSync(out, 'refused\n'),
      );
      pass('called', n);
      if (n % burst === burst - 1) await last;
    }
    await last;
    return { count };
  },
});

/** What a {@link flooder} has written to its file so far. */
export function heardIn(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}
