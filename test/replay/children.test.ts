import { expect, test } from 'vitest';
import { play, survives } from './faults.ts';
import { without } from './steering.ts';
import type { World } from './world.ts';

function childrenOf(world: World, taskId: string) {
  return world.tasks().filter(({ parentId }) => parentId === taskId);
}

test.each([
  ['before', true],
  ['after', false],
])('a child that ends %s its result is asked for gives the same result', (_, endsFirst) =>
  survives(() => ({
    asksForResults: false,
    agents: {
      async main(task, side) {
        const child = await task.spawn('c', 'child', { n: 1 });
        await task.emit('a.note');
        if (endsFirst) await task.step('wait', side.returns());
        const result = await child.result();
        const output = result.status === 'completed' ? result.output : result.status;
        return [output, await task.step('s', side.returns(`after ${output} `))];
      },
      async child(task, side) {
        await task.emit('child.note');
        return task.step('work', side.returns('child'));
      },
    },
    steer(moves, world) {
      const isChildAtWork = world.tasks().some(({ parentId, finishedAt }) => parentId !== null && finishedAt === null);
      const isHeldBack = endsFirst && isChildAtWork;
      return without(moves, (move) => move.kind === 'raw' && move.label === 'body of wait' && isHeldBack);
    },
    check(world, taskId) {
      const { status, output } = world.task(taskId);
      const [child, another] = childrenOf(world, taskId);
      expect(another).toBeUndefined();
      expect({ status, output }).toEqual({
        status: 'completed',
        output: [child?.output, expect.stringMatching(new RegExp(`^after ${child?.output} `))],
      });
    },
  })),
);

test('a failed child is made anew by a retry, in its place, and nothing before its result runs again', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    let first: string | null = null;
    await play(
      {
        agents: {
          async main(task, side) {
            const child = await task.spawn('c', 'child');
            await task.step('between', side.returns());
            const result = await child.result();
            if (result.status === 'failed') throw new Error('The child failed.', { cause: result.error });
            return result.status;
          },
          async child(task, side) {
            first ??= task.id;
            await task.step('work', side.returns());
            if (task.id === first) throw new Error('It fails the first time.');
            return 'good';
          },
        },
        async play(world, taskId) {
          await world.run();
          expect(world.task(taskId).status).toBe('failed');
          const second = world.retry(taskId);
          await world.run();
          expect(world.task(second)).toMatchObject({ status: 'completed', output: 'completed' });
          expect(childrenOf(world, second)).toHaveLength(1);
          const keys = world.history.journal.resolved(second).map(({ key }) => key);
          expect(keys.indexOf('c')).toBeLessThan(keys.indexOf('between'));
        },
        check(world) {
          expect(world.runs.bodies.filter(({ key }) => key === 'between')).toHaveLength(1);
        },
      },
      seed,
      [],
    );
  }
});
