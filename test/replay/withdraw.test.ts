import { expect, test } from 'vitest';
import { survives } from './faults.ts';
import { hasCommitted, isHeard, without } from './steering.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }], timeoutMs: null };

function resolutionsOf(world: World, taskId: string): string[] {
  return world
    .eventsOf(taskId)
    .flatMap(({ type }) => (/^question\.(answered|cancelled|declined|expired)$/.test(type) ? [type] : []));
}

test.each([
  ['withdrawn', 'question.cancelled'],
  ['answered', 'question.answered'],
])('a question that is withdrawn by its signal and was %s first has that one resolution', (status, type) =>
  survives(() => ({
    agents: {
      async main(task) {
        const controller = new AbortController();
        const asked = task.ask('q', { ...QUESTION, signal: controller.signal });
        await Promise.race([asked, task.sleep('z', 5)]);
        controller.abort();
        return (await asked).status;
      },
    },
    person: () => (status === 'answered' ? 'answer' : null),
    steer: (moves, world) =>
      without(
        moves,
        (move) =>
          status === 'answered' &&
          ((move.kind === 'outside' &&
            move.request.call.verb === 'answerQuestion' &&
            !hasCommitted(world, 'fireTimer')) ||
            (isHeard(move, 'withdraw') && !hasCommitted(world, 'answerQuestion'))),
      ),
    check(world, taskId) {
      const { output } = world.task(taskId);
      if (world.isUnharmed) expect(output).toBe(status);
      expect(resolutionsOf(world, taskId)).toEqual([output === status ? type : `question.${resolvedAs(output)}`]);
    },
  })),
);

function resolvedAs(output: unknown): string {
  return output === 'withdrawn' ? 'cancelled' : String(output);
}

test('a question whose signal is aborted already is asked of nobody', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const reply = await task.ask('q', { ...QUESTION, signal: AbortSignal.abort() });
        await task.step('s', side.returns());
        return reply.status;
      },
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'withdrawn' });
      expect(world.eventsOf(taskId).filter(({ type }) => type.startsWith('question.'))).toEqual([]);
      expect(world.history.journal.rows(taskId)).toHaveLength(2);
    },
  })));
