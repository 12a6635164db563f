import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import type { Cut } from '../../src/model/journal.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { childCompleted, childFailed, declined, expired, type Outcome } from '../support/journal.ts';
import { answered, MainSide, QUESTION } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function start(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

/** Commits all that is reported until the code has failed, resolving these when it waits. */
async function cutOf(code: (task: TaskHandle) => unknown, ...outcomes: Outcome[]): Promise<Cut | null> {
  await start(code);
  return cutAtEnd(1, outcomes);
}

async function cutAtEnd(fence: number, outcomes: Outcome[] = []): Promise<Cut | null> {
  let claim = fence;
  for (let report = await main.any(); ; report = await main.any()) {
    if (!('n' in report)) continue;
    if (report.kind === 'wait') {
      main.waited(report, 'waiting');
      main.adopt(++claim, ...outcomes.splice(0, 1));
    } else if (report.kind === 'end') {
      if (report.ending.status === 'failed') return report.ending.cut;
      throw new Error('The code has not failed.');
    } else main.ack(report);
  }
}

const fail = () => Promise.reject(new Error('no'));
const noop = () => {};

describe('an attempt that fails', () => {
  test('is taken back to before the failure that ended it', async () => {
    const cut = await cutOf(async (task) => {
      await task.emit('my.event');
      await task.step('a', noop);
      await task.step('x', fail);
    });

    expect(cut).toEqual({ keys: ['x'], askedAt: 2, ord: 2, emits: 1 });
  });

  test('is taken back to there whatever it did because of the failure', async () => {
    const cut = await cutOf(async (task) => {
      await task.step('a', noop);
      try {
        await task.step('x', fail);
      } catch (error) {
        await task.step('n', noop);
        await task.emit('my.event');
        await task.inbox();
        throw error;
      }
    });

    expect(cut).toEqual({ keys: ['x'], askedAt: 1, ord: 2, emits: 0 });
  });

  test('counts the events that were called for by then, not those on disk', async () => {
    await start(async (task) => {
      const failing = task.step('x', fail);
      await task.step('y', noop);
      void task.emit('my.event');
      await failing;
    });
    await main.commit('startStep');
    await main.commit('startStep');
    const settled = [await main.next('settleStep'), await main.next('settleStep')];
    const [x, y] = settled.toSorted((a, b) => (a.step.name < b.step.name ? -1 : 1));
    if (x === undefined || y === undefined) throw new Error('Two were read.');
    const { taskId, fence } = y;
    const resolutions = [...main.journal.commit(y), ...main.journal.commit(x)];
    main.send({ kind: 'resolve', taskId, fence, resolutions }, { kind: 'ack', taskId, fence, n: 4 });
    await main.next('append');

    expect((await main.next('end')).ending).toMatchObject({ cut: { keys: ['x'], askedAt: 1, ord: 2, emits: 1 } });
  });

  test('is taken back to before the first of several failures', async () => {
    const both = await cutOf(async (task) => {
      const results = await Promise.allSettled([task.step('x', fail), task.step('y', noop), task.step('z', fail)]);
      await task.step('log', noop);
      throw new AggregateError(results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
    });
    main.close();
    const any = await cutOf((task) => Promise.any([task.step('x', fail), task.step('z', fail)]));
    main.close();
    const all = await cutOf((task) => Promise.all([task.step('x', fail), task.step('z', fail)]));

    expect(both).toMatchObject({ keys: ['x', 'z'], askedAt: 0, ord: 1 });
    expect(any).toMatchObject({ keys: ['x', 'z'], askedAt: 0, ord: 1 });
    expect(all).toMatchObject({ keys: ['x'], askedAt: 0, ord: 1 });
  });

  test('is taken back to before a failure that is among the causes, however deep', async () => {
    const cut = await cutOf(async (task) => {
      const error = await task.step('x', fail).catch((cause: unknown) => new Error('outer', { cause }));
      await task.step('log', noop);
      throw new AggregateError([new Error('another'), new Error('outermost', { cause: error })]);
    });

    expect(cut).toEqual({ keys: ['x'], askedAt: 0, ord: 1, emits: 0 });
  });

  test('is taken back to before the last thing that it was told, when that was a failure', async () => {
    const wrapped = async (task: TaskHandle, meanwhile: () => unknown) => {
      try {
        await task.step('x', fail);
      } catch {
        await meanwhile();
        throw new Error('no cause');
      }
    };
    const directly = await cutOf((task) => wrapped(task, () => task.emit('my.event')));
    main.close();
    const afterAnother = await cutOf((task) => wrapped(task, () => task.step('log', noop)));

    expect(directly).toEqual({ keys: ['x'], askedAt: 0, ord: 1, emits: 0 });
    expect(afterAnother).toBeNull();
  });

  test.each<[string, Outcome, Cut | null]>([
    ['has expired', expired('q'), { keys: ['q'], askedAt: 0, ord: 1, emits: 0 }],
    ['was declined', declined('q'), { keys: ['q'], askedAt: 0, ord: 1, emits: 0 }],
    ['was answered', answered('q'), null],
  ])('because a question %s is taken back to before that', async (_, outcome, expected) => {
    const cut = await cutOf(async (task) => {
      const { status } = await task.ask('q', QUESTION);
      throw new Error(status);
    }, outcome);

    expect(cut).toEqual(expected);
  });

  test('because a child has failed is taken back to before its result', async () => {
    const code = async (task: TaskHandle, end: (result: object) => Promise<never>) => {
      const child = await task.spawn('c', 'helper');
      await task.step('a', noop);
      return end(await child.result());
    };
    const withCause = await cutOf(
      (task) =>
        code(task, async (result) => {
          await task.step('log', noop);
          throw new Error('the child', { cause: Reflect.get(result, 'error') });
        }),
      childFailed('c', 'no seats'),
    );
    main.close();
    const without = await cutOf(
      (task) => code(task, () => Promise.reject(new Error('no child'))),
      childFailed('c', 'no seats'),
    );
    main.close();
    const completed = await cutOf(
      (task) => code(task, () => Promise.reject(new Error('not good enough'))),
      childCompleted('c', 1),
    );

    expect(withCause).toEqual({ keys: ['c>'], askedAt: 2, ord: 3, emits: 0 });
    expect(without).toEqual({ keys: ['c>'], askedAt: 2, ord: 3, emits: 0 });
    expect(completed).toBeNull();
  });

  test('by itself keeps its journal whole', async () => {
    const cut = await cutOf(async (task) => {
      await task.step('x', fail).catch(noop);
      await task.step('a', noop);
      throw new TypeError('a mistake');
    });

    expect(cut).toBeNull();
  });

  test.each<[string, () => unknown]>([
    [
      'that goes round in a circle',
      () => {
        const error = new Error('x');
        error.cause = new Error('y', { cause: error });
        return error;
      },
    ],
    [
      'that throws when it is read',
      () =>
        new Proxy(new Error('x'), {
          get: () => {
            throw new Error('hostile');
          },
        }),
    ],
    ['that is none', () => undefined],
    ['that has a million causes', () => new AggregateError(Array(1_000_000).fill(new Error('x')))],
  ])('with an error %s is taken back all the same', async (_, thrown) => {
    const cut = await cutOf(async (task) => {
      await task.step('x', fail).catch(noop);
      throw thrown();
    });

    expect(cut).toMatchObject({ keys: ['x'] });
  });

  test('after it was replayed is taken back to what it was given then', async () => {
    const raw = defer<void>();
    await start(async (task) => {
      await task.emit('my.event');
      const error = await task.step('x', fail).catch((error: unknown) => error);
      await task.step('log', noop);
      await raw.promise;
      throw error;
    });
    await main.commit('append');
    await main.step('x');
    await main.step('log');

    await main.replay();
    await main.settle();
    raw.resolve();

    expect(await cutAtEnd(2)).toEqual({ keys: ['x'], askedAt: 1, ord: 1, emits: 1 });
  });
});

describe('the next attempt', () => {
  test('does again what was taken back and is given the rest, with no event told twice', async () => {
    let failures = 1;
    const bodies: string[] = [];
    await start(async (task) => {
      const body = (name: string) => () => void bodies.push(name);
      await task.emit('my.a');
      const kept = task.step('y', body('y'));
      try {
        await task.step('x', async () => {
          bodies.push('x');
          if (failures-- > 0) throw new Error('no');
        });
      } catch (error) {
        void task.emit('my.failing');
        await task.step('n', body('n of the failure'));
        await kept;
        throw error;
      }
      await task.emit('my.b');
      await kept;
      await task.step('n', body('n'));
    });
    await main.commit('append');
    await main.commit('startStep');
    await main.commit('startStep');
    const [y, x] = [await main.next('settleStep'), await main.next('settleStep')];
    main.ack(y);
    main.ack(x);
    const cut = await cutAtEnd(1);
    expect(cut).toMatchObject({ keys: ['x'], emits: 1 });

    main.journal.takeBack(cut);
    await main.replay({ attempt: 2 });

    expect(await main.commit('startStep')).toMatchObject({ step: { name: 'x', attempt: 1 } });
    await main.commit('settleStep');
    expect(await main.commit('append')).toMatchObject({ after: 1, events: [{ type: 'my.b' }] });
    await main.step('n');
    expect(await main.next('end')).toMatchObject({ ending: { status: 'completed' } });
    expect(bodies).toEqual(['y', 'x', 'n of the failure', 'x', 'n']);
  });
});

describe('a task that tries another one again', () => {
  test('tells its events again, each in its place, and does nothing else again', async () => {
    const order: string[] = [];
    await start(async (task) => {
      const note = (what: string) => () => order.push(what);
      await Promise.all([
        task.emit('my.a').then(note('a')),
        task.step('s', () => order.push('body')).then(note('s')),
        task.emit('my.b').then(note('b')),
      ]);
      await task.ask('q', QUESTION);
      await task.step('t', noop);
    });
    await main.commit('append');
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');
    await main.commit('ask');
    await main.settle();
    expect(order.splice(0)).toEqual(['body', 'a', 'b', 's']);

    main.journal.emits = 0;
    main.journal.rows.delete('q');
    await main.replay();

    expect(await main.commit('append')).toMatchObject({
      after: 0,
      events: [{ type: 'my.a' }, { type: 'my.b' }],
    });
    expect(await main.next('ask')).toMatchObject({ key: 'q', askedAt: 3 });
    expect(order).toEqual(['a', 'b', 's']);
  });
});
