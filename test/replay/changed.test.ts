import { expect, test } from 'vitest';
import type { TestAgent } from './agent-side.ts';
import { play } from './faults.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }], timeoutMs: null };

const before: TestAgent = async (task, side) => {
  const a = await task.step('a', side.returns());
  await task.emit('a.note');
  await task.step('b', side.returns());
  await task.ask('q', QUESTION);
  await task.step('c', side.returns());
  return a;
};

/** Runs code until it waits for `q`, loses the process, and goes on with other code in its place. */
async function goOnWith(
  after: TestAgent,
  check: (world: World, taskId: string, tookMs: number) => void,
): Promise<void> {
  for (let seed = 1; seed <= 3; seed++) {
    let changedAt = 0;
    let answers = false;
    await play(
      {
        mayStand: true,
        isOtherCode: true,
        agents: { main: before },
        person: () => null,
        async play(world, taskId) {
          await world.run();
          expect(world.task(taskId).status).toBe('waiting');
          world.agents = { main: after };
          world.killProcess();
          changedAt = world.time.now;
          answers = true;
          const [question] = world.seen.pending;
          const args = { questionId: question?.id ?? '', given: { answer: 'yes' }, resolvedBy: world.owner };
          world.request({ verb: 'answerQuestion', args });
          await world.run();
        },
        check: (world, taskId) => check(world, taskId, world.time.now - changedAt),
      },
      seed,
      [],
    );
    expect(answers).toBe(true);
  }
}

const NOTHING_NEW = /^(task\.|question\.(answered|cancelled)$)/;

function nothingOfTheNewCode(world: World, taskId: string): void {
  const [, later] = world.runs.of(taskId);
  if (later === undefined) throw new Error('The changed code was never run.');
  expect(world.runs.bodies.filter(({ incarnation }) => incarnation === later)).toEqual([]);
  const own = world.eventsOf(taskId);
  const waited = own.findLastIndex(({ type }) => type === 'task.waiting');
  expect(own.slice(waited + 1).filter(({ type }) => !NOTHING_NEW.test(type))).toEqual([]);
  expect(world.task(taskId)).toMatchObject({ status: 'failed', error: { code: 'nondeterministic' } });
}

const CHANGES: Record<string, TestAgent> = {
  'has a step less': async (task, side) => {
    await task.step('a', side.returns());
    await task.emit('a.note');
    await task.ask('q', QUESTION);
    await task.step('c', side.returns());
  },
  'has a step more': async (task, side) => {
    await task.step('a', side.returns());
    await task.emit('a.note');
    await task.step('new', side.returns());
    await task.step('b', side.returns());
    await task.ask('q', QUESTION);
  },
  'has renamed a step': async (task, side) => {
    await task.step('a', side.returns());
    await task.emit('a.note');
    await task.step('b2', side.returns());
    await task.ask('q', QUESTION);
  },
  'has swapped two steps': async (task, side) => {
    await task.step('b', side.returns());
    await task.emit('a.note');
    await task.step('a', side.returns());
    await task.ask('q', QUESTION);
  },
  'has renamed the question that is pending': async (task, side) => {
    await task.step('a', side.returns());
    await task.emit('a.note');
    await task.step('b', side.returns());
    await task.ask('q2', QUESTION);
    await task.step('c', side.returns());
  },
};

test.each(Object.entries(CHANGES))('code that %s is found out after a minute, and has done nothing', (_, after) =>
  goOnWith(after, (world, taskId, tookMs) => {
    nothingOfTheNewCode(world, taskId);
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(tookMs).toBeLessThan(75_000);
  }),
);

test('code that asks for another kind under a key is found out at once', () =>
  goOnWith(
    async (task, side) => {
      await task.step('a', side.returns());
      await task.emit('a.note');
      await task.ask('b', QUESTION);
    },
    (world, taskId, tookMs) => {
      nothingOfTheNewCode(world, taskId);
      expect(tookMs).toBeLessThan(1000);
    },
  ));

test('code that was changed behind the last row goes on', () =>
  goOnWith(
    async (task, side) => {
      await task.step('a', side.returns());
      await task.emit('a.note');
      await task.step('b', side.returns());
      await task.ask('q', QUESTION);
      await task.step('d', side.returns());
      return 'new';
    },
    (world, taskId) => expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'new' }),
  ));
