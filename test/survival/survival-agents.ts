import { appendFileSync } from 'node:fs';
import { defineAgent } from '../../src/worker/define-agent.ts';

const ITEMS = [{ id: 'value', type: 'text' as const, prompt: 'What?' }];
/** Longer than any test: what races it loses only when the other side really comes. */
const LONG_MS = 30 * 60_000;

/** Asks once, and gives back what it heard; with `file`, tells there how often its first step ran. */
const asker = defineAgent<{ file?: string; timeoutMs?: number | null } | null>({
  name: 'asker',
  async run(task, input) {
    await task.step('before', () => input?.file !== undefined && appendFileSync(input.file, 'before\n'));
    const reply = await task.ask('value', { items: ITEMS, timeoutMs: input?.timeoutMs ?? LONG_MS });
    await task.step('after', () => input?.file !== undefined && appendFileSync(input.file, 'after\n'));
    return reply;
  },
});

/** The question against a timer that does not come. */
const racer = defineAgent({
  name: 'racer',
  async run(task) {
    const giveUp = new AbortController();
    const winner = await Promise.race([
      task.ask('value', { items: ITEMS, timeoutMs: LONG_MS, signal: giveUp.signal }),
      task.sleep('patience', LONG_MS).then(() => 'slept' as const),
    ]);
    giveUp.abort();
    return winner;
  },
});

/** Two branches, each of which goes on when its own answer comes. */
const both = defineAgent({
  name: 'both',
  run: (task) =>
    Promise.all(
      ['left', 'right'].map(async (side) => {
        const reply = await task.ask(side, { items: ITEMS, timeoutMs: LONG_MS });
        return task.step(`heard-${side}`, () => reply);
      }),
    ),
});

/** Asks again and again. */
const talker = defineAgent<{ rounds: number }>({
  name: 'talker',
  async run(task, { rounds }) {
    const heard: unknown[] = [];
    for (let round = 0; round < rounds; round++) {
      const reply = await task.ask('value', { items: ITEMS, timeoutMs: LONG_MS });
      heard.push(reply.status === 'answered' ? reply.answers.value : reply.status);
    }
    return heard;
  },
});

/** Emits `events` events, and then waits for an answer. */
const pourer = defineAgent<{ events: number }>({
  name: 'pourer',
  async run(task, { events }) {
    const text = 'x'.repeat(100);
    for (let n = 0; n < events; n += 200) {
      await Promise.all(
        Array.from({ length: Math.min(200, events - n) }, (_, i) => task.emit('pour.drop', { n: n + i, text })),
      );
    }
    return events;
  },
});

export const agents = [asker, racer, both, talker, pourer];
