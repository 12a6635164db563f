import { expect, test } from 'vitest';
import { play, survives } from './faults.ts';
import { hasCommitted } from './steering.ts';
import type { World } from './world.ts';

function runsOf(world: World, key: string): number {
  return world.runs.bodies.filter((run) => run.key === key).length;
}

test('a once step that may have run throws, and throws the same again', () =>
  survives(
    () => ({
      agents: {
        async main(task, side) {
          const paid = await task.step('pay', side.returns('paid'), { once: true }).catch((error) => error.code);
          await task.step('after', side.returns());
          return paid;
        },
      },
      check(world, taskId) {
        const { status, output } = world.task(taskId);
        expect(status).toBe('completed');
        expect(runsOf(world, 'pay')).toBeLessThanOrEqual(1);
        expect(output).toMatch(
          runsOf(world, 'pay') === 1 ? /^(paid\d+|step_uncertain)$/ : /^(paid\d+|step_uncertain)$/,
        );
        expect(world.history.journal.rows(taskId).map(({ key }) => key)).toEqual(['pay', 'after']);
      },
    }),
    { twice: true },
  ));

test('a once step whose process was lost while it ran is uncertain for good', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    await play(
      {
        agents: {
          async main(task, side) {
            return task.step('pay', side.returns(), { once: true }).catch((error) => error.code);
          },
        },
        steer: (moves, world) => moves.filter((move) => !(move.kind === 'raw' && world.runs.incarnations.length === 1)),
        async play(world) {
          await world.run(() => world.runs.bodies.length === 1);
          world.killProcess();
          await world.run(() => hasCommitted(world, 'settleStep', 'pay'));
          world.killProcess();
          await world.run();
        },
        check(world, taskId) {
          expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'step_uncertain' });
          expect(runsOf(world, 'pay')).toBe(1);
          expect(world.history.journal.rows(taskId)).toHaveLength(1);
        },
      },
      seed,
      [],
    );
  }
});

test('a once step of a failing path does not run again when the path is taken again', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    await play(
      {
        maxAttempts: 2,
        agents: {
          async main(task, side) {
            try {
              return await task.step('x', side.fails(3, 'x'));
            } catch (error) {
              await task.step('refund', side.returns(), { once: true });
              throw error;
            }
          },
        },
        async play(world, taskId) {
          await world.run();
          expect(world.task(taskId)).toMatchObject({ status: 'failed' });
          expect(world.task(taskId).error?.message).toMatch(/refund/);
          const second = world.retry(taskId);
          await world.run();
          expect(world.task(second)).toMatchObject({ status: 'failed' });
          expect(world.task(second).error?.message).toMatch(/refund/);
        },
        check(world) {
          expect(runsOf(world, 'refund')).toBe(1);
        },
      },
      seed,
      [],
    );
  }
});

test.each(['sleep', 'step'] as const)(
  'a mark that a once step has left says nothing about a %s under its name',
  (kind) =>
    survives(() => ({
      maxAttempts: 2,
      agents: {
        async main(task, side) {
          try {
            await task.step('x', side.fails(1));
          } catch (error) {
            await task.step('refund', side.returns(), { once: true });
            throw error;
          }
          if (kind === 'sleep') await task.sleep('refund', 1);
          else await task.step('refund', side.returns());
          return 'good';
        },
      },
      check(world, taskId) {
        if (world.isUnharmed) expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'good' });
      },
    })),
);
