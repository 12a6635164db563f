import { defineAgent } from '../../src/worker/define-agent.ts';
import { EVENT_BURST } from '../../src/worker/pace.ts';

export const asker = defineAgent({
  name: 'asker',
  async run(task) {
    const reply = await task.ask('go', { items: [{ id: 'go', type: 'boolean', prompt: 'Go on?' }] });
    await task.emit('asker.heard', { status: reply.status });
    return reply.status;
  },
});

export const sleeper = defineAgent({
  name: 'sleeper',
  async run(task) {
    await task.sleep('nap', 60_000);
    return 'awake';
  },
});

export const leaver = defineAgent({
  name: 'leaver',
  async run(task) {
    await task.emit('leaver.leaves');
    process.exit(0);
  },
});

export const holder = defineAgent({
  name: 'holder',
  async run(task) {
    await task.emit('holder.holds');
    await new Promise(() => {});
  },
});

export const torrent = defineAgent({
  name: 'torrent',
  async run(task) {
    for (let n = 0; ; n++) {
      await Promise.all(Array.from({ length: EVENT_BURST }, (_, i) => task.emit('torrent.drop', { n, i })));
    }
  },
});

export const talker = defineAgent({
  name: 'talker',
  async run(task) {
    for (let n = 0; n < 50; n++) await task.emit('talker.word', { n });
    return null;
  },
});
