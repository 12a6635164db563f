import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noteEvents } from '../support/store-owner.ts';
import {
  allDone,
  LOG,
  openPublishedStore,
  type PublishedStore,
  storedFrames,
  subjectOf,
  turn,
} from './published-store.ts';

let engine: PublishedStore;
beforeEach(() => {
  engine = openPublishedStore();
});
afterEach(() => engine.store.close());

describe('a ring', () => {
  test('holds what was appended since it was subscribed to, and knows nothing of before', async () => {
    const { hub, ann } = engine;
    const first = hub.subscribe('ann', LOG.scope, () => {});
    const task = await ann.start();

    const second = hub.subscribe('ann', { kind: 'root', taskId: task.id }, () => {});
    await ann.append(task);

    expect(first.after(0)?.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(second.after(1)).toBeNull();
    expect(second.after(2)?.events.map(({ seq }) => seq)).toEqual([3]);
  });

  test('has no answer for a place that it has not reached', async () => {
    const { hub, ann } = engine;
    const subscription = hub.subscribe('ann', LOG.scope, () => {});
    await ann.start();

    expect(subscription.after(2)).toMatchObject({ head: 2, events: [] });
    expect(subscription.after(3)).toBeNull();
  });

  test('gives the bytes that the store gives, from any place, for a task and for the log', async () => {
    const { hub, store, ann } = engine;
    const ofLog = hub.subscribe('ann', LOG.scope, () => {});
    const [one, two] = [await ann.start(), await ann.start()];
    const { head } = await store.log('ann');
    const ofTask = hub.subscribe('ann', { kind: 'root', taskId: one.id }, () => {});
    const texts = ['plain', 'a\rb\nc\u2028d', '👩‍👩‍👧‍👦', '\0"\\'];
    for (const text of texts) {
      await ann.append(
        one,
        noteEvents(one.id, 2, () => JSON.stringify({ text })),
      );
      await ann.append(two, noteEvents(two.id, 1));
    }
    await ann.finish(one);

    const [{ head: last }, subject] = [await store.log('ann'), await subjectOf(store, one.id)];
    for (let seq = 0; seq <= last; seq++) {
      expect(ofLog.after(seq)?.frames().toString()).toBe(await storedFrames(store, LOG, seq));
    }
    for (let seq = head; seq <= last; seq++) {
      expect(ofTask.after(seq)?.frames().toString()).toBe(await storedFrames(store, subject, seq));
    }
  });

  test('is emptied by a hole in what was published: from before it, there is no answer', async () => {
    const { hub, ann, unheard } = engine;
    const subscription = hub.subscribe('ann', LOG.scope, () => {});
    const task = await ann.start();
    await unheard.append(task);

    await ann.append(task);

    expect(subscription.after(2)).toBeNull();
    expect(subscription.after(3)?.events.map(({ seq }) => seq)).toEqual([4]);
  });

  test('is emptied by a hole for every topic of the owner, also those that the next event is not of', async () => {
    const { hub, ann, unheard } = engine;
    const [quiet, busy] = [await ann.start(), await ann.start()];
    const subscription = hub.subscribe('ann', { kind: 'root', taskId: quiet.id }, () => {});
    await ann.append(busy);
    await unheard.append(quiet);

    await ann.append(busy);

    expect(subscription.after(5)).toBeNull();
    expect(subscription.after(6)?.events).toEqual([]);
  });

  test('is cut behind when it holds 2048 events, and keeps the newer half', async () => {
    const { hub, ann } = engine;
    const task = await ann.start();
    const subscription = hub.subscribe('ann', LOG.scope, () => {});
    for (let i = 0; i < 8; i++) await ann.append(task, noteEvents(task.id, 256));

    const head = 2 + 2048;
    expect(subscription.after(head - 1024)?.events).toHaveLength(1024);
    expect(subscription.after(head - 1025)).toBeNull();
  });

  test('gives a quarter of a MiB at a time to a reader that is far behind', async () => {
    const { hub, ann, store } = engine;
    const subscription = hub.subscribe('ann', LOG.scope, () => {});
    const task = await ann.start();
    const large = () => JSON.stringify('x'.repeat(50_000));
    for (let i = 0; i < 4; i++) await ann.append(task, noteEvents(task.id, 10, large));

    const first = subscription.after(0);
    const second = subscription.after(first?.head ?? 0);

    expect(first).toMatchObject({ isAll: false });
    expect(first?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: first?.head ?? 0 }, (_, n) => n + 1));
    expect(first?.frames().length).toBeGreaterThan(250 * 1024);
    expect(first?.frames().length).toBeLessThan(400 * 1024);
    expect(second?.events[0]?.seq).toBe((first?.head ?? 0) + 1);
    expect(subscription.after((await store.log('ann')).head - 1)).toMatchObject({ isAll: true });
  });

  test('is emptied when it holds more than 4 MiB', async () => {
    const { hub, ann } = engine;
    const task = await ann.start();
    const subscription = hub.subscribe('ann', LOG.scope, () => {});
    const large = () => JSON.stringify('x'.repeat(60_000));
    for (let i = 0; i < 75; i++) await ann.append(task, noteEvents(task.id, 1, large));

    expect(subscription.after(2)).toBeNull();
    expect(subscription.after(77)).toMatchObject({ head: 77, events: [] });
  });

  test('builds its frames once for all who stand at one place, and anew when more has come', async () => {
    const { hub, ann } = engine;
    const subscribe = () => hub.subscribe('ann', LOG.scope, () => {});
    const [one, two] = [subscribe(), subscribe()];
    const task = await ann.start();

    const before = one.after(1)?.frames();
    const same = two.after(1)?.frames();
    await ann.append(task);
    const more = two.after(1)?.frames();

    expect(before).toBe(same);
    expect(more?.toString()).toBe(await storedFrames(engine.store, LOG, 1));
  });
});

describe('waking', () => {
  test('happens once for all that came in a turn, and only to readers of what it is about', async () => {
    const { hub, ann } = engine;
    const [one, two] = [await ann.start(), await ann.start()];
    const rings: string[] = [];
    hub.subscribe('ann', { kind: 'root', taskId: one.id }, () => rings.push('one'));
    hub.subscribe('ann', { kind: 'root', taskId: two.id }, () => rings.push('two'));
    hub.subscribe('ann', LOG.scope, () => rings.push('log'));
    hub.subscribe('ben', LOG.scope, () => rings.push('ben'));

    await Promise.all([ann.append(one), ann.append(one), ann.append(one)]);
    await turn();

    expect(rings.sort()).toEqual(['log', 'one']);
  });

  test('reaches every reader of a crowd', async () => {
    const { hub, ann } = engine;
    const task = await ann.start();
    const rung = new Set<number>();
    const all = new Promise<void>((resolve) => {
      for (let n = 0; n < 120; n++) hub.subscribe('ann', LOG.scope, () => void (rung.add(n).size === 120 && resolve()));
    });

    await ann.append(task);
    await all;

    expect(rung.size).toBe(120);
  });

  test('neither hurries a crowd for the sake of one reader, nor lets one wait for a crowd', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { hub, ann } = engine;
    const task = await ann.start();
    const rings: string[] = [];
    const { scope } = await subjectOf(engine.store, task.id);
    for (let n = 0; n < 60; n++) hub.subscribe('ann', scope, () => rings.push('crowd'));
    hub.subscribe('ann', LOG.scope, () => rings.push('one'));

    await ann.append(task);
    await allDone();
    expect(rings).toEqual(['one']);

    vi.advanceTimersByTime(5);
    expect(rings).toHaveLength(61);
    vi.useRealTimers();
  });

  test('leaves a reader alone that has closed, and no other', async () => {
    const { hub, ann } = engine;
    const task = await ann.start();
    const rings: string[] = [];
    const gone = hub.subscribe('ann', LOG.scope, () => rings.push('gone'));
    const stays = hub.subscribe('ann', LOG.scope, () => rings.push('stays'));

    gone.close();
    gone.close();
    await ann.append(task);
    await allDone();

    expect(rings).toEqual(['stays']);
    expect(stays.after(2)?.events).toHaveLength(1);
  });
});
