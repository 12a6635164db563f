import { expect, test } from 'vitest';
import { play, survives } from './faults.ts';
import { hasCommitted, without } from './steering.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }], timeoutMs: null };

test('what else is awaited one after the other changes nothing', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        await side.raw();
        const a = await task.step('a', side.returns('a'));
        await side.raw();
        await task.emit('a.note');
        return [a, await task.step('b', side.returns('b'))];
      },
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({
        status: 'completed',
        output: [expect.stringMatching(/^a/), expect.stringMatching(/^b/)],
      });
      expect(world.eventsOf(taskId).filter(({ type }) => type === 'a.note')).toHaveLength(1);
    },
  })));

test('what else is awaited beside a step may be faster or slower the next time', () =>
  survives(() => ({
    isLoose: true,
    agents: {
      async main(task, side) {
        const first = async () => {
          await side.raw();
          return task.step('charge-a', side.returns('a'));
        };
        const second = async () => {
          await task.step('prep', side.returns());
          return task.step('charge-b', side.returns('b'));
        };
        return Promise.all([first(), second()]);
      },
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({
        status: 'completed',
        output: [expect.stringMatching(/^a/), expect.stringMatching(/^b/)],
      });
    },
  })));

test('code that was behind something else before it saved is not taken for another', () =>
  survives(() => ({
    isLoose: true,
    agents: {
      async main(task, side) {
        const saves = async () => {
          await side.raw();
          return task.step('save', side.returns('saved'));
        };
        const [reply, saved] = await Promise.all([task.ask('q', QUESTION), saves()]);
        return [reply.status, saved];
      },
    },
    steer: (moves, world) =>
      without(
        moves,
        (move) => move.kind === 'outside' && answers(move.request.call) && !hasCommitted(world, 'settleStep'),
      ),
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: ['answered', expect.any(String)] });
    },
  })));

function answers({ verb }: { verb: string }): boolean {
  return verb === 'answerQuestion';
}

/** Plays a race of a step and something else, won by the step; when it comes again, the other is there `at once` or never. */
async function raceAgain(again: 'at once' | 'last', check: (world: World, taskId: string) => void): Promise<void> {
  for (let seed = 1; seed <= 10; seed++) {
    await play(
      {
        isLoose: true,
        mayStand: true,
        agents: {
          async main(task, side) {
            const winner = await Promise.race([
              side.raw().then(() => 'raw'),
              task.step('y', side.returns()).then(() => 'step'),
            ]);
            await task.step(winner, side.returns());
            return winner;
          },
        },
        steer(moves, world) {
          if (world.tasks().every(({ finishedAt }) => finishedAt !== null)) return moves;
          const isFirst = world.runs.incarnations.length === 1;
          const raws = moves.filter((move) => move.kind === 'raw' && move.label === 'raw');
          if (isFirst || again === 'last') return without(moves, (move) => raws.includes(move));
          return raws.length > 0 ? raws : moves;
        },
        async play(world) {
          await world.run(() => hasCommitted(world, 'startStep', 'step'));
          world.killProcess();
          await world.run();
        },
        check,
      },
      seed,
      [],
    );
  }
}

test('a race that something else wins the next time is never given a wrong value', () =>
  raceAgain('at once', (world, taskId) => {
    const { status, output, error } = world.task(taskId);
    if (status === 'completed') expect(output).toBe('step');
    else expect(error?.code).toBe('nondeterministic');
    expect(world.runs.bodies.filter(({ key }) => key === 'raw')).toEqual([]);
  }));

test('a race that the step wins again goes the recorded way', () =>
  raceAgain('last', (world, taskId) => {
    expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'step' });
  }));

test('what was called behind something else is called again before anything more is given', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    await play(
      {
        isLoose: true,
        agents: {
          async main(task, side) {
            const first = async () => {
              await side.raw();
              return task.step('charge', side.returns('first '));
            };
            const second = async () => {
              await task.step('prep', side.returns());
              return task.step('charge', side.returns('second '));
            };
            return Promise.all([first(), second()]);
          },
        },
        steer(moves, world) {
          const raws = moves.filter((move) => move.kind === 'raw' && move.label === 'raw');
          if (world.runs.incarnations.length === 1 && raws.length > 0) return raws;
          const others = moves.filter((move) => move.kind !== 'clock' && !raws.includes(move));
          return others.length > 0 ? others : moves;
        },
        async play(world) {
          await world.run(() => ['charge', 'charge#2'].every((key) => hasCommitted(world, 'settleStep', key)));
          world.killProcess();
          await world.run();
        },
        check(world, taskId) {
          expect(world.task(taskId).output).toEqual([
            expect.stringMatching(/^first /),
            expect.stringMatching(/^second /),
          ]);
        },
      },
      seed,
      [],
    );
  }
});
