import { expect, test } from 'vitest';
import { survives } from './faults.ts';
import { hasCommitted, isNews, without } from './steering.ts';
import type { World } from './world.ts';

function types(world: World, taskId: string): string[] {
  return world.eventsOf(taskId).map(({ type }) => type);
}

test('a failure that was caught is caught again, from the journal', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const value = await task.step('x', side.fails(99)).catch(() => task.step('fallback', side.returns('fallback')));
        await task.step('end', side.returns());
        return value;
      },
    },
    check(world, taskId) {
      expect(world.task(taskId).output).toMatch(/^fallback/);
    },
  })));

test('what finally emits is told once', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        try {
          await task.step('x', side.returns());
        } finally {
          await task.emit('a.close');
        }
        return task.step('y', side.returns());
      },
    },
    check(world, taskId) {
      expect(types(world, taskId).filter((type) => type === 'a.close')).toHaveLength(1);
    },
  })));

test('what was not awaited is in the log before the end', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        void task.step('background', side.returns());
        void task.emit('a.note');
        return 1;
      },
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 1 });
      const own = types(world, taskId);
      expect(own.filter((type) => type === 'a.note')).toHaveLength(1);
      expect(own.at(-1)).toBe('task.completed');
    },
  })));

test('code that had ended before the last resolution ends before it again', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        return Promise.race([task.step('fast', side.returns('fast')), task.step('slow', side.returns('slow'))]);
      },
    },
    steer(moves, world) {
      const both = hasCommitted(world, 'settleStep', 'fast') && hasCommitted(world, 'settleStep', 'slow');
      return without(moves, (move) => isNews(move) && !both);
    },
    check(world, taskId) {
      const { status, output } = world.task(taskId);
      const [first] = world.history.journal.resolved(taskId);
      expect({ status, output }).toEqual({ status: 'completed', output: JSON.parse(first?.value ?? '') });
    },
  })));
