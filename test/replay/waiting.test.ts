import { expect, test } from 'vitest';
import { newId } from '../support/store-owner.ts';
import type { TestAgent } from './agent-side.ts';
import { play, survives } from './faults.ts';
import type { Move } from './moves.ts';
import { hasCommitted, isHeard, without } from './steering.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }] };
const FOR_EVER = { ...QUESTION, timeoutMs: null };

const asksThenWorks: TestAgent = async (task, side) => {
  await task.ask('q', QUESTION);
  return task.step('s', side.returns('s'));
};

function types(world: World, taskId: string): string[] {
  return world.eventsOf(taskId).map(({ type }) => type);
}

function countOf(world: World, taskId: string, type: string): number {
  return types(world, taskId).filter((each) => each === type).length;
}

test('an answer that comes before the wait is decided lets the task run on', () =>
  survives(() => ({
    agents: { main: asksThenWorks },
    steer: (moves, world) => without(moves, (move) => isHeard(move, 'wait') && !hasCommitted(world, 'answerQuestion')),
    check(world, taskId) {
      expect(world.task(taskId).status).toBe('completed');
      expect(countOf(world, taskId, 'task.waiting')).toBe(0);
    },
  })));

test('of two questions the answered one is gone on with, and the other waited for again', () =>
  survives(() => ({
    warmMs: 0,
    mayStand: true,
    agents: {
      async main(task, side) {
        const branch = async (question: string, step: string) => {
          await task.ask(question, FOR_EVER);
          await task.step(step, side.returns());
        };
        await Promise.all([branch('q1', 'x'), branch('q2', 'y')]);
      },
    },
    person: ({ name }) => (name === 'q1' ? 'answer' : null),
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
      expect(world.history.journal.rows(taskId).map(({ key, status }) => `${key} ${status}`)).toEqual([
        'q1 answered',
        'q2 pending',
        'x done',
      ]);
    },
  })));

test.each([
  ['is kept', 10_000, 1],
  ['was dropped', 0, 2],
])('a task whose copy %s goes on once when it is answered', (_, warmMs, copies) =>
  survives(() => ({
    warmMs,
    agents: { main: asksThenWorks },
    steer: (moves, world) =>
      without(moves, (move) => move.kind === 'outside' && asksNothing(move) && !hasCommitted(world, 'waitTask')),
    check(world, taskId) {
      expect(world.task(taskId).status).toBe('completed');
      const lost = countOf(world, taskId, 'task.recovered');
      expect(world.runs.bodies.length).toBeLessThanOrEqual(1 + lost);
      if (lost === 0 && world.isUnharmed) expect(world.runs.of(taskId)).toHaveLength(copies);
    },
  })),
);

function asksNothing(move: Move): boolean {
  return move.kind === 'outside' && move.request.call.verb === 'answerQuestion';
}

test('a copy that was kept while its task ran elsewhere does not take the next claim', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        await task.ask('q1', FOR_EVER);
        const s = await task.step('s', side.returns('here '));
        await task.ask('q2', FOR_EVER);
        return [s, await task.step('t', side.returns('t'))];
      },
    },
    person: () => null,
    async play(world, taskId) {
      await world.run(() => world.find(taskId)?.status === 'waiting');
      await world.run(() => world.process.pool.workers.every(({ commands }) => commands.length === 0));
      await runElsewhere(world, taskId);
      const [q2] = world.seen.pending;
      world.request({
        verb: 'answerQuestion',
        args: { questionId: q2?.id ?? '', given: { answer: 'yes' }, resolvedBy: world.owner },
      });
      await world.run();
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: ['elsewhere', expect.any(String)] });
    },
  })));

/** What another node does when `q1` is answered: it takes the task, runs `s`, asks `q2`, and waits. */
async function runElsewhere(world: World, taskId: string): Promise<void> {
  const [q1] = world.seen.pending;
  const answer = { questionId: q1?.id ?? '', given: { answer: 'yes' }, resolvedBy: world.owner };
  await world.elsewhere([{ verb: 'answerQuestion', args: answer }]);
  await world.elsewhere([{ verb: 'claimTask', args: { taskId, version: '1', warm: false, node: 'elsewhere' } }]);
  const lease = { taskId, fence: world.task(taskId).fence };
  const step = { name: 's', attempt: 1 };
  const settled = { step, askedAt: 1, once: false, message: null, tool: null };
  const asked = { key: 'q2', askedAt: 2, items: [], metadata: {}, timeoutMs: null };
  const { outcomes } = await world.elsewhere([
    { verb: 'startStep', args: { ...lease, step, askedAt: 1, once: false, messageId: null, tool: null } },
    {
      verb: 'settleStep',
      args: { ...lease, ...settled, ms: 1, outcome: { status: 'completed', value: '"elsewhere"' } },
    },
    { verb: 'askQuestion', args: { ...lease, ...asked, items: textItems(), questionId: newId('qst') } },
    { verb: 'waitTask', args: { ...lease, ord: 2, keys: ['q2'] } },
  ]);
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true]);
}

function textItems() {
  const base = { id: 'a', prompt: 'Well?', header: null, required: true };
  return [{ ...base, type: 'text', minLength: null, maxLength: null, default: null } as const];
}

/** Whether something that the worker has not been told of yet lies ready for it. */
function isOnItsWay(world: World, kind: string): boolean {
  return world.process.pool.workers.some(({ commands }) => commands.some((command) => command.kind === kind));
}

test('a call of a waiting copy and the claim for it may cross', () =>
  survives(() => ({
    isLoose: true,
    agents: {
      async main(task, side) {
        await Promise.race([task.ask('q', QUESTION), side.raw()]);
        return task.step('x', side.returns('x'));
      },
    },
    steer(moves, world) {
      const hasRaw = world.runs.raws.some(({ label }) => label === 'raw');
      const crosses = isOnItsWay(world, 'adopt');
      return without(
        moves,
        (move) =>
          (move.kind === 'raw' && move.label === 'raw' && !crosses && !hasCommitted(world, 'startStep')) ||
          (move.kind === 'pass' && move.command.kind === 'adopt' && hasRaw) ||
          (asksNothing(move) && !isWaiting(world)),
      );
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: expect.stringMatching(/^x/) });
      if (world.isUnharmed) expect(world.task(taskId).fence).toBe(2);
    },
  })));

test.each([
  ['the code calls', false],
  ['the answer comes and the code ends', true],
])('while the wait is undecided %s, and that goes out behind it', (_, ends) =>
  survives(() => ({
    isLoose: true,
    agents: {
      async main(task, side) {
        const asked = task.ask('q', QUESTION);
        await side.raw();
        if (!ends) await task.step('x', side.returns());
        else void task.emit('a.note');
        return ends ? 'over' : (await asked).status;
      },
    },
    steer(moves, world) {
      const waits = isOnItsWay(world, 'waited');
      const hasRaw = world.runs.raws.some(({ label }) => label === 'raw');
      return without(
        moves,
        (move) =>
          (move.kind === 'raw' && move.label === 'raw' && !waits) ||
          (move.kind === 'pass' && move.command.kind === 'waited' && hasRaw) ||
          (asksNothing(move) && !waits),
      );
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: ends ? 'over' : 'answered' });
    },
  })),
);

test('a resolution that no branch waits for wakes the task, which waits again', () =>
  survives(() => ({
    agents: {
      async main(task) {
        await Promise.race([task.ask('q', FOR_EVER), task.sleep('z', 1)]);
        return (await task.ask('q2', FOR_EVER)).status;
      },
    },
    steer(moves, world) {
      const { commits } = world.history;
      const asked = commits.findLastIndex(({ calls }) => calls.some(({ verb }) => verb === 'askQuestion'));
      const waits = isWaiting(world) && hasCommitted(world, 'askQuestion', 'q2') && asked < commits.length - 1;
      return without(
        moves,
        (move) =>
          (isAnswerOf(world, move, 'q') && !waits) ||
          (isAnswerOf(world, move, 'q2') && !(hasCommitted(world, 'answerQuestion') && waits)),
      );
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: 'answered' });
      if (!world.isUnharmed) return;
      const own = types(world, taskId);
      const answered = own.indexOf('question.answered');
      expect(own.slice(answered, answered + 3)).toEqual(['question.answered', 'task.resumed', 'task.waiting']);
    },
  })));

function isWaiting(world: World): boolean {
  return world.tasks().every(({ status }) => status === 'waiting');
}

function isAnswerOf(world: World, move: Move, name: string): boolean {
  if (move.kind !== 'outside' || move.request.call.verb !== 'answerQuestion') return false;
  const { questionId } = move.request.call.args;
  return world.seen.questions.some((question) => question.id === questionId && question.name === name);
}

test('what a lost copy goes on to report is refused, and nothing of it is written', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    await play(
      {
        mayStand: true,
        agents: {
          async main(task, side) {
            try {
              await task.step('a', side.returns());
              await task.emit('a.note');
              return await task.step('b', side.returns());
            } catch {
              return 'caught';
            } finally {
              await task.emit('a.close');
            }
          },
        },
        async play(world, taskId) {
          const until = 2 + (seed % 5);
          await world.run(() => world.commits >= until);
          const { fence, status } = world.task(taskId);
          expect(status).toBe('running');
          await world.elsewhere([
            { verb: 'requeueTask', args: { taskId, fence, cause: 'drained' } },
            { verb: 'claimTask', args: { taskId, version: '1', warm: false, node: 'elsewhere' } },
          ]);
          const before = world.history.commits.length;
          const seen = world.eventsOf(taskId).length;
          await world.run(() => world.isIdle);
          expect(world.history.commits.slice(before).flatMap(({ refused }) => refused)).toContain('lease_lost');
          expect(world.eventsOf(taskId)).toHaveLength(seen);
          await world.elsewhere([{ verb: 'requeueTask', args: { taskId, fence: fence + 1, cause: 'drained' } }]);
          world.killProcess();
          await world.run();
        },
        check(world, taskId) {
          expect(world.task(taskId)).toMatchObject({ status: 'completed' });
          for (const type of ['a.note', 'a.close']) expect(countOf(world, taskId, type)).toBe(1);
        },
      },
      seed,
      [],
    );
  }
});
