import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent } from 'holdfast';

/** Fewer than a task may emit at once without being slowed down. */
const SHARE = 4000;

/**
 * Emits as fast as it is let: several branches, each with a hundred events on their way to the disk. More than one task may
 * emit at once is emitted by children.
 */
export const firehose = defineAgent({
  name: 'firehose',
  async run(task, { events, text, branches = 4, burst = 100 }) {
    if (events > SHARE) {
      const input = { text, branches, burst };
      const shares = Array.from({ length: Math.ceil(events / SHARE) }, (_, i) => Math.min(SHARE, events - i * SHARE));
      const children = await Promise.all(
        shares.map((share) => task.spawn('share', 'firehose', { ...input, events: share })),
      );
      await Promise.all(children.map((child) => child.result()));
      return null;
    }
    let left = events;
    async function pour() {
      while (left > 0) {
        const count = Math.min(burst, left);
        left -= count;
        await Promise.all(Array.from({ length: count }, (_, i) => task.emit('bench.tick', { i, text })));
      }
    }
    await Promise.all(Array.from({ length: branches }, pour));
    return null;
  },
});

/** Emits one event every so often, each with the time at which it was emitted. */
export const ticker = defineAgent({
  name: 'ticker',
  async run(task, { events, everyMs, text = '', holdMs = 500 }) {
    await delay(holdMs);
    const begin = monotonicMs();
    const emits = [];
    for (let i = 0; i < events; i++) {
      const wait = begin + i * everyMs - monotonicMs();
      if (wait > 0) await delay(wait);
      emits.push(task.emit('bench.tick', { i, sentAt: monotonicMs(), text }));
    }
    await Promise.all(emits);
    return null;
  },
});

/** The machine's monotonic clock, which all its processes share. */
function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A little of everything that most tasks do. */
export const errand = defineAgent({
  name: 'errand',
  async run(task, { text }) {
    const value = await task.step('errand', () => text);
    await task.emit('bench.tick', { value });
    return null;
  },
});

export const nothing = defineAgent({ name: 'nothing', run: () => null });

export const asker = defineAgent({
  name: 'asker',
  run: (task) => task.ask('value', { items: [{ id: 'value', prompt: 'What?' }], timeoutMs: null }),
});
