import { expect, test } from 'vitest';
import type { TestAgent } from './agent-side.ts';
import { play, survives } from './faults.ts';
import type { World } from './world.ts';

test('an inbox gives the messages that came before it was asked, and the next one only later ones', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const first = await task.inbox();
        await task.step('s', side.returns());
        return [first, await task.inbox()];
      },
    },
    async play(world, taskId) {
      for (let n = 0; n < 4; n++) {
        const call = { verb: 'addToInbox', args: { taskId, message: n } } as const;
        world.request(call, () => world.commits >= n + 1 && world.find(taskId) !== null);
      }
      await world.run();
    },
    check(world, taskId) {
      const { output } = world.task(taskId);
      const taken = [...(output as number[][]).flat(), ...(world.task(taskId).inbox as number[])];
      expect(taken.toSorted()).toEqual([0, 1, 2, 3].slice(0, taken.length));
      if (world.isUnharmed) expect(taken).toEqual(taken.toSorted());
    },
  })));

const draws: TestAgent = async (task, side) => {
  const draw = () => ({ random: task.random('r'), uuid: task.uuid('u'), now: task.now() });
  const [before, emitted] = [draw(), task.emit('a.draw', { n: 1 })];
  await emitted;
  const told = draw();
  await task.emit('a.draw', told);
  await task.step('s', side.returns());
  await task.emit('a.draw', draw());
  await task.sleep('z', 5);
  const values = [before, told, draw()];
  await task.emit('a.draw', { values });
  await task.step('fails', side.fails(1));
  return values;
};

function drawn(world: World, taskId: string): string[] {
  return world.eventsOf(taskId).flatMap(({ type, data }) => (type === 'a.draw' ? [data] : []));
}

test('what is drawn is the same each time, in a task that retries another too', async () => {
  await survives(() => ({
    maxAttempts: 2,
    agents: { main: draws },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed' });
      expect(drawn(world, taskId)).toHaveLength(4);
    },
  }));
  for (let seed = 1; seed <= 5; seed++) {
    await play(
      {
        agents: { main: draws },
        async play(world, taskId) {
          await world.run();
          expect(world.task(taskId).status).toBe('failed');
          const second = world.retry(taskId);
          await world.run();
          expect(world.task(second).status).toBe('completed');
          expect(drawn(world, second)).toEqual(drawn(world, taskId));
        },
        check: () => {},
      },
      seed,
      [],
    );
  }
});
