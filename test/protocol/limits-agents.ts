import { defineAgent } from '../../src/worker/define-agent.ts';

/** Holds its place until it is cancelled. */
export const holder = defineAgent({
  name: 'holder',
  run: (task) => new Promise((resolve) => task.signal.addEventListener('abort', resolve)),
});

/** Emits as fast as it is let, for ever. */
export const torrent = defineAgent({
  name: 'torrent',
  async run(task) {
    for (let n = 0; ; n++) await task.emit('torrent.drop', { n });
  },
});

/** Emits so many events that it does not await, and goes on when the loop has turned. */
export const spiller = defineAgent({
  name: 'spiller',
  async run(task) {
    for (;;) {
      for (let n = 0; n < 1000; n++) void task.emit('spiller.drop', { n });
      await new Promise(setImmediate);
    }
  },
});

/** Asks so many questions at once. */
export const asker = defineAgent({
  name: 'many-askers',
  run: (task, input: { count: number }) =>
    Promise.all(Array.from({ length: input.count }, () => task.ask('q', { items: [{ id: 'a', prompt: 'Well?' }] }))),
});

/** Tells a few things, each when the one before is stored. */
export const quiet = defineAgent({
  name: 'quiet',
  async run(task) {
    for (let n = 0; n < 20; n++) await task.emit('quiet.word', { n });
    return null;
  },
});
