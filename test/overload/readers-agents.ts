import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** Emits an event every so often, for so long. */
export const steady = defineAgent({
  name: 'steady',
  input: z.object({ ms: z.number(), everyMs: z.number(), padBytes: z.number().int() }),
  async run(task, { ms, everyMs, padBytes }) {
    const pad = 'x'.repeat(padBytes);
    const startedAt = performance.now();
    for (let n = 0; n * everyMs < ms; n++) {
      const waitMs = startedAt + n * everyMs - performance.now();
      if (waitMs > 0) await delay(waitMs, undefined, { signal: task.signal });
      await task.emit('load.tick', { n, pad });
    }
    return null;
  },
});
