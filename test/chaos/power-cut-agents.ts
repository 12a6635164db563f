import { openSync, statSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** So many of a press's events are on their way at once. */
const BURST = 4;

/** Returns what it was given. */
export const errand = defineAgent({ name: 'errand', run: (_task, input) => input });

/** Does a step, asks a person, does another, and returns what it heard. */
export const clerk = defineAgent({
  name: 'clerk',
  async run(task, input) {
    const file = await task.step('look up', () => ({ file: String(input) }));
    const reply = await task.ask('go', { items: [{ id: 'go', prompt: `Go on with ${file.file}?` }] });
    await task.step('put away', async (step) => step.say('Done.'));
    return reply.status;
  },
});

/**
 * Emits `count` large events, a few every `everyMs`, and writes into the file beside the trace each one's number when it is
 * told that it is stored, with how long the trace was by then.
 */
export const press = defineAgent({
  name: 'press',
  input: z.object({ count: z.int(), padBytes: z.int(), everyMs: z.number() }),
  async run(task, { count, padBytes, everyMs }) {
    const trace = process.env.POWER_CUT_TRACE ?? '';
    const heard = openSync(heardFile(trace), 'a');
    const pad = 'x'.repeat(padBytes);
    let last = Promise.resolve();
    for (let n = 0; n < count; n++) {
      last = task.emit('press.sheet', { n, pad }).then(() => {
        writeSync(heard, `${task.id} ${n} ${statSync(trace).size}\n`);
      });
      if (n % BURST < BURST - 1) continue;
      await last;
      await delay(everyMs);
    }
    await last;
    return count;
  },
});

/** What the presses of the process with this trace have heard. */
export function heardFile(trace: string): string {
  return `${trace}.heard`;
}
