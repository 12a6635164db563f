import { expect, test } from 'vitest';
import type { TestAgent } from './agent-side.ts';
import { play, type Scenario, survives } from './faults.ts';
import { hasCommitted, isNews, without } from './steering.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }], timeoutMs: null };

function told(world: World, taskId: string): string[] {
  return world.eventsOf(taskId).flatMap(({ type }) => (type.startsWith('a.') ? [type] : []));
}

function runsOf(world: World, key: string): number {
  return world.runs.bodies.filter((run) => run.key === key).length;
}

function ofTwoAttempts(main: TestAgent, check: (world: World, taskId: string) => void): () => Scenario {
  return () => ({ maxAttempts: 2, agents: { main }, check });
}

test('a second attempt goes on before the step that failed', () =>
  survives(
    ofTwoAttempts(
      async (task, side) => {
        await task.emit('a.begun');
        await task.step('a', side.returns());
        await task.step('x', side.fails(1));
        await task.emit('a.done');
      },
      (world, taskId) => {
        expect(world.task(taskId).status).toBe('completed');
        expect(told(world, taskId)).toEqual(['a.begun', 'a.done']);
        if (world.isUnharmed) expect([runsOf(world, 'a'), runsOf(world, 'x')]).toEqual([1, 2]);
      },
    ),
  ));

test('what was done because of the failure is not found by another path under its name', () =>
  survives(
    ofTwoAttempts(
      async (task, side) => {
        try {
          await task.step('x', side.fails(1));
        } catch (error) {
          await task.step('n', side.returns('bad'));
          throw error;
        }
        return task.step('n', side.returns('good'));
      },
      (world, taskId) => expect(world.task(taskId)).toMatchObject({ output: expect.stringMatching(/^good/) }),
    ),
  ));

test('what is kept does not wait for events of the path that was cut off', () =>
  survives(() => ({
    ...ofTwoAttempts(
      async (task, side) => {
        const failing = async () => {
          try {
            await task.step('x', side.fails(1));
          } catch (error) {
            await task.emit('a.sorry');
            await task.emit('a.really');
            throw error;
          }
        };
        const [first] = await Promise.allSettled([failing(), task.step('y', side.returns())]);
        if (first.status === 'rejected') throw first.reason;
      },
      (world, taskId) => {
        expect(world.task(taskId).status).toBe('completed');
        if (world.isUnharmed) expect(runsOf(world, 'y')).toBe(1);
      },
    )(),
    steer: (moves, world) =>
      without(
        moves,
        (move) =>
          move.kind === 'raw' && move.label === 'body of y' && !hasCommitted(world, 'appendEvents', undefined, 2),
      ),
  })));

test('an event that is under way when the failure comes is told once', () =>
  survives(() => ({
    ...ofTwoAttempts(
      async (task, side) => {
        const failing = task.step('x', side.fails(1));
        const other = async () => {
          await task.step('y', side.returns());
          await task.emit('a.note');
          await task.step('z', side.returns());
        };
        await Promise.all([failing, other()]);
      },
      (world, taskId) => {
        expect(world.task(taskId).status).toBe('completed');
        expect(told(world, taskId)).toEqual(['a.note']);
      },
    )(),
    steer(moves, world) {
      const [x, y] = ['x', 'y'].map((key) => hasCommitted(world, 'settleStep', key));
      return without(
        moves,
        (move) =>
          (isNews(move) && y === true && x === false) || (move.kind === 'raw' && move.label === 'body of x' && !y),
      );
    },
  })));

test('two failures that were both committed are both tried again', () =>
  survives(() => ({
    ...ofTwoAttempts(
      async (task, side) => {
        await Promise.all([task.step('x', side.fails(1)), task.step('z', side.fails(1))]);
      },
      (world, taskId) => {
        expect(world.task(taskId)).toMatchObject({ status: 'completed' });
        if (world.isUnharmed) expect([runsOf(world, 'x'), runsOf(world, 'z')]).toEqual([2, 2]);
      },
    )(),
    steer(moves, world) {
      const both = ['x', 'z'].every((key) => hasCommitted(world, 'settleStep', key));
      return without(moves, (move) => isNews(move) && !both);
    },
  })));

test('a failure that was wrapped without its cause is tried again if it came last', () =>
  survives(
    ofTwoAttempts(
      (task, side) =>
        task.step('x', side.fails(1)).catch(() => {
          throw new Error('no cause');
        }),
      (world, taskId) => expect(world.task(taskId).status).toBe('completed'),
    ),
  ));

test('a failure that was wrapped without its cause, behind another step, is final', () =>
  survives(
    ofTwoAttempts(
      async (task, side) => {
        try {
          await task.step('x', side.fails(99));
        } catch {
          await task.step('log', side.returns());
          throw new Error('no cause');
        }
      },
      (world, taskId) => {
        expect(world.task(taskId)).toMatchObject({ status: 'failed', failures: 1 });
        if (world.isUnharmed) expect(runsOf(world, 'x')).toBe(1);
      },
    ),
  ));

test('a message that was taken because of the failure is there again', () =>
  survives(() => ({
    ...ofTwoAttempts(
      async (task, side) => {
        try {
          await task.step('x', side.fails(1));
        } catch (error) {
          await task.inbox();
          throw error;
        }
        return task.inbox();
      },
      (world, taskId) => expect(world.task(taskId)).toMatchObject({ status: 'completed', output: ['hello'] }),
    )(),
    async play(world, taskId) {
      world.request({ verb: 'addToInbox', args: { taskId, message: 'hello' } }, () => world.find(taskId) !== null);
      await world.run();
    },
    steer: (moves, world) => without(moves, (move) => move.kind === 'raw' && !hasCommitted(world, 'addToInbox')),
  })));

test('what retries a cancelled task has all that was done, and asks anew', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    let retried: string | null = null;
    await play(
      {
        agents: {
          async main(task, side) {
            await task.step('a', side.returns());
            await task.emit('a.note');
            const { status } = await task.ask('q', QUESTION);
            await task.step('b', side.returns());
            return status;
          },
        },
        person: ({ taskId }) => (taskId === retried ? 'answer' : null),
        async play(world, taskId) {
          await world.run();
          expect(world.task(taskId).status).toBe('waiting');
          world.request({ verb: 'cancelTask', args: { taskId, reason: null } });
          await world.run();
          retried = world.retry(taskId);
          await world.run();
          expect(world.task(retried)).toMatchObject({ status: 'completed', output: 'answered' });
          expect(told(world, retried)).toEqual(['a.note']);
        },
        check(world) {
          expect([runsOf(world, 'a'), runsOf(world, 'b')]).toEqual([1, 1]);
        },
      },
      seed,
      [],
    );
  }
});
