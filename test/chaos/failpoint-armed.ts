import { writeSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';
import type { Failpoint } from '../../src/failpoint.ts';

/**
 * Stands in for `src/failpoint.ts` in a copy of the code (see failpoint-copy.ts). `FAILPOINT=<name>:<n>` kills the
 * process, like `kill -9`, when a thread passes that point for the n-th time; every thread counts for itself.
 */
const [armed, passing = 1] = armedPoint(process.env.FAILPOINT);
let passed = 0;

export const failpoint = (name: Failpoint): void => {
  if (name !== armed) return;
  passed += 1;
  if (passed !== passing) return;
  writeSync(2, `failpoint ${name}:${passed} in ${isMainThread ? 'the main thread' : `thread ${threadId}`}\n`);
  process.kill(process.pid, 'SIGKILL');
};

function armedPoint(text = ''): [name?: string, passing?: number] {
  if (text === '') return [];
  const [, name, times] = /^([a-z-]+)(?::([1-9]\d*))?$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`FAILPOINT is <name>:<n>, not "${text}".`);
  return [name, Number(times ?? 1)];
}
