import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** How many events may be on their way to the disk: enough for a group commit to carry many. */
const HELD = 64;

/** Emits `count` small events, one each `everyMs`; the events of a tick that comes late follow at once. */
const ticker = defineAgent({
  name: 'ticker',
  input: z.object({
    count: z.number().int(),
    everyMs: z.number().default(0),
    padBytes: z.number().int().default(0),
  }),
  async run(task, { count, everyMs, padBytes }) {
    await tick(task, { from: 0, count, everyMs, padBytes });
    return { count };
  },
});

/** Emits, waits for a person, emits again, and is done. */
const closer = defineAgent({
  name: 'closer',
  input: z.object({
    before: z.number().int().default(0),
    after: z.number().int().default(0),
    everyMs: z.number().default(0),
    padBytes: z.number().int().default(0),
  }),
  async run(task, { before, after, everyMs, padBytes }) {
    await tick(task, { from: 0, count: before, everyMs: 0, padBytes });
    await task.ask('go', { items: [{ id: 'go', prompt: 'Go on?', type: 'boolean' }] });
    await tick(task, { from: before, count: after, everyMs, padBytes });
    return { count: before + after };
  },
});

interface Ticks {
  /** The `n` of the first event. */
  from: number;
  count: number;
  everyMs: number;
  padBytes: number;
}

async function tick(task: TaskHandle, { from, count, everyMs, padBytes }: Ticks): Promise<void> {
  const startedAt = performance.now();
  const pad = 'x'.repeat(padBytes);
  let last = Promise.resolve();
  for (let n = 0; n < count; n++) {
    const waitMs = startedAt + n * everyMs - performance.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal: task.signal });
    last = task.emit('load.tick', { n: from + n, ...(padBytes > 0 && { pad }) });
    if (n % HELD === HELD - 1) await last;
  }
  await last;
}

export default [ticker, closer];
