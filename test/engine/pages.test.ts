import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PageRequest, readEventsPage } from '../../src/engine/pages.ts';
import type { Subject } from '../../src/engine/position.ts';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents } from '../support/store-owner.ts';
import { LOG, openPublishedStore, type PublishedStore, subjectOf, turn } from './published-store.ts';

let engine: PublishedStore;
beforeEach(() => {
  engine = openPublishedStore();
});
afterEach(() => engine.store.close());

const LONG_MS = 60_000;

function read(given: Partial<PageRequest> & { subject?: Subject } = {}, { store, hub }: PublishedStore = engine) {
  return readEventsPage(store, hub, {
    owner: 'ann',
    subject: LOG,
    position: { seq: 0, until: null },
    passes: () => true,
    limit: 1000,
    waitMs: 0,
    signals: [new AbortController().signal],
    ...given,
  });
}

function seqsOf({ events }: { events: string[] }): number[] {
  return events.map((text) => JSON.parse(text).seq);
}

describe('waiting for a page', () => {
  test('keeps a ring that came while it read', async () => {
    const { ann, store } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 900));
    const passes = (type: string) => type === 'task.completed';

    const waiting = read({ passes, waitMs: LONG_MS });
    await turn();
    await ann.finish(task);

    expect(seqsOf(await waiting)).toEqual([(await store.log('ann')).head]);
  });

  test('wakes for each append, and sleeps again when nothing passed', async () => {
    const { ann } = engine;
    const task = await ann.start();
    const passes = (type: string) => type === 'task.completed';
    const waiting = read({ passes, waitMs: LONG_MS });

    for (let i = 0; i < 5; i++) {
      await ann.append(task);
      await turn();
    }
    await ann.finish(task);

    expect(seqsOf(await waiting)).toEqual([8]);
  });

  test('ends when its client goes, and leaves no subscription', async () => {
    const { ann, hub } = engine;
    await ann.start();
    const abort = new AbortController();
    const waiting = read({ position: { seq: 2, until: null }, waitMs: LONG_MS, signals: [abort.signal] });
    await turn();

    abort.abort();
    const page = await waiting;

    expect(page).toMatchObject({ events: [], caughtUp: true, done: false });
    await ann.start();
    // With no topic left, nothing of that is in a ring.
    expect(hub.subscribe('ann', LOG.scope, () => {}).after(2)).toBeNull();
  });

  test('does not begin where its client is gone already', async () => {
    await engine.ann.start();

    const page = await read({ position: { seq: 2, until: null }, waitMs: LONG_MS, signals: [AbortSignal.abort()] });

    expect(page.events).toEqual([]);
  });
});

describe('the bounds of a page', () => {
  test('are the log as it stood at the beginning, however fast it grows', async () => {
    const { ann } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 300));

    const reading = read();
    await ann.append(task, noteEvents(task.id, 300));

    expect(seqsOf(await reading)).toHaveLength(302);
  });

  test('leave the cursor at the last event that is in it', async () => {
    const { ann, store } = engine;
    const task = await ann.start();
    await ann.append(task, noteEvents(task.id, 10));
    const passes = (type: string) => type === 'note.taken';

    const page = await read({ passes, limit: 4 });

    expect(seqsOf(page)).toEqual([3, 4, 5, 6]);
    expect(page).toMatchObject({ cursor: `${store.epoch}.6`, caughtUp: false, done: false });
  });

  test('carry the retelling on: its ids until it is told, a plain cursor after it', async () => {
    const { ann, store } = engine;
    const [done, open] = [await ann.start(), await ann.start()];
    await ann.finish(done);
    const position = { seq: 2, until: 5 };

    const cut = await read({ position, limit: 1 });
    const whole = await read({ position });

    expect(cut.cursor).toBe(`${store.epoch}.3.5`);
    expect(whole.events.map((text) => JSON.parse(text).id)).toEqual([`${store.epoch}.3.5`, `${store.epoch}.4.5`]);
    expect(whole.cursor).toBe(`${store.epoch}.5`);
    expect(JSON.parse(whole.events[0] ?? '').taskId).toBe(open.id);
  });
});

describe('what is pruned while a page is read', () => {
  test('ends the page before the hole, and is told as gone to the next', async () => {
    const { ann } = engine;
    const [old, open] = [await ann.start(), await ann.start()];
    await ann.append(old, noteEvents(old.id, 300));
    await ann.finish(old);

    const reading = read();
    await ann.prune(old.id);
    const page = await reading;
    const next = read({ position: { seq: seqsOf(page).at(-1) ?? 0, until: null } });

    expect(seqsOf(page)).toHaveLength(200);
    expect(page).toMatchObject({ caughtUp: false, done: false });
    await expect(next).rejects.toMatchObject({ code: 'cursor_gone', details: { reason: 'expired' } });
    expect(await ann.seqs()).toEqual(await ann.seqs({ scope: { kind: 'root', taskId: open.id } }));
  });

  test('sends the reader on behind it, by a cursor that is good', async () => {
    const { ann, store } = engine;
    const old = await ann.start();
    await ann.append(old, noteEvents(old.id, 300));
    await ann.finish(old);
    const subject = await subjectOf(store, old.id);

    const reading = read({ subject, passes: (type) => type === 'never.sent' });
    await ann.prune(old.id);

    const resumeAfter = `${store.epoch}.${(await store.log('ann')).head}`;
    await expect(reading).rejects.toMatchObject({ code: 'cursor_gone', details: { reason: 'expired', resumeAfter } });
  });

  test('is in the page where it was pruned between the look at the mark and the read', async () => {
    const onDisk = openPublishedStore({ dir: newDirectory() });
    const old = await onDisk.ann.start();
    await onDisk.ann.finish(old);
    // Another thread's commit, at the worst moment.
    const store: typeof onDisk.store = {
      ...onDisk.store,
      snapshot: (ask) =>
        onDisk.store.snapshot((reads) =>
          ask({
            ...reads,
            readEvents(owner, query) {
              void onDisk.unheard.prune(old.id);
              return reads.readEvents(owner, query);
            },
          }),
        ),
    };

    const page = await read({}, { ...onDisk, store });

    expect(seqsOf(page)).toEqual([1, 2, 3]);
    expect((await onDisk.store.log('ann')).prunedSeq).toBe(3);
    await onDisk.store.close();
  });
});
