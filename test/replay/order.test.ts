import { expect, test } from 'vitest';
import type { AgentSide } from './agent-side.ts';
import { survives } from './faults.ts';
import type { Move } from './moves.ts';
import { hasCommitted, isHeard, isNews, without } from './steering.ts';
import type { World } from './world.ts';

const QUESTION = { items: [{ id: 'a', prompt: 'Well?' }] };

function told(world: World, taskId: string, type: string): unknown[] {
  return world.eventsOf(taskId).flatMap((event) => (event.type === type ? [JSON.parse(event.data)] : []));
}

test('a sequence goes on where it was', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const a = await task.step('a', side.returns('a'));
        await task.emit('a.done', { a });
        return task.step('b', side.returns(`${a} b`));
      },
    },
    check(world, taskId) {
      expect(world.task(taskId)).toMatchObject({ status: 'completed', output: expect.stringMatching(/^a\d+ b\d+$/) });
      expect(told(world, taskId, 'a.done')).toHaveLength(1);
    },
  })));

test('repeated names in branches reach the branch that called them', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const branch = async (name: string) => {
          await task.step(name, side.returns());
          return task.step('charge', side.returns(`for ${name} `));
        };
        return Promise.all([branch('p1'), branch('p2')]);
      },
    },
    check(world, taskId) {
      expect(world.task(taskId).output).toEqual([expect.stringMatching(/^for p1 /), expect.stringMatching(/^for p2 /)]);
    },
  })));

test.each([
  ['before', 'the step ends', isTold],
  ['after', 'the step has ended', hasEnded],
])('an event that is acknowledged %s %s keeps its place before what was resolved after it', (_, __, isHeldBack) =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const steps = async () => {
          await task.step('prep', side.returns());
          return task.step('charge', side.returns('first '));
        };
        const tells = async () => {
          await task.emit('a.note');
          return task.step('charge', side.returns('second '));
        };
        return Promise.all([steps(), tells()]);
      },
    },
    steer: (moves, world) => without(moves, (move) => isHeldBack(world, move)),
    check(world, taskId) {
      expect(world.task(taskId).output).toEqual([expect.stringMatching(/^first /), expect.stringMatching(/^second /)]);
      expect(told(world, taskId, 'a.note')).toHaveLength(1);
    },
  })),
);

/** Holds the step back until the event has been told to the code. */
function isTold(world: World, move: Move): boolean {
  const [first] = world.runs.incarnations;
  const isDelivered = first?.trace.some(({ at }) => at === 'delivery') ?? false;
  return move.kind === 'raw' && move.label === 'body of prep' && !isDelivered;
}

/** Holds all news back until the step has ended. */
function hasEnded(world: World, move: Move): boolean {
  return isNews(move) && !hasCommitted(world, 'settleStep', 'prep');
}

test('an answer that was committed before an event is given before it, though it is told only with it', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const asks = async () => {
          await task.ask('q', QUESTION);
          return task.step('x', side.returns('asked '));
        };
        const tells = async () => {
          await task.step('pre', side.returns());
          await task.emit('a.note');
          return task.step('x', side.returns('told '));
        };
        return Promise.all([asks(), tells()]);
      },
    },
    steer(moves, world) {
      const isAnswered = hasCommitted(world, 'answerQuestion');
      const isTold = hasCommitted(world, 'appendEvents');
      const tellsAnswer = (command: { kind: string; resolutions?: readonly { key: string }[] }) =>
        command.kind === 'resolve' && command.resolutions?.some(({ key }) => key === 'q');
      return without(
        moves,
        (move) =>
          (isHeard(move, 'append') && !isAnswered) ||
          (isHeard(move, 'wait') && !isAnswered) ||
          (move.kind === 'pass' &&
            tellsAnswer(move.command) === true &&
            hasCommitted(world, 'settleStep', 'pre') &&
            !isTold),
      );
    },
    check(world, taskId) {
      expect(world.task(taskId).output).toEqual([expect.stringMatching(/^asked /), expect.stringMatching(/^told /)]);
    },
  })));

test('a branch that emits all the time goes on as often as before, and ends', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        let stop = false;
        const emits = async () => {
          for (let n = 1; !stop; n++) await task.emit('a.beat', { n });
        };
        const long = task.step('long', side.returns()).then(() => {
          stop = true;
        });
        await Promise.all([emits(), long]);
      },
    },
    check(world, taskId) {
      expect(world.task(taskId).status).toBe('completed');
      const beats = told(world, taskId, 'a.beat');
      expect(beats).toEqual(beats.map((_, index) => ({ n: index + 1 })));
    },
  })));

test('a race is won by the same, and the loser is given to nobody', () =>
  survives(() => ({
    agents: {
      async main(task, side: AgentSide) {
        const asked = task.ask('q', QUESTION).then(() => 'answered');
        const slept = task.sleep('t', 20).then(() => 'slept');
        const winner = await Promise.race([asked, slept]);
        await task.step(winner, side.returns());
        return winner;
      },
    },
    check(world, taskId) {
      const { output } = world.task(taskId);
      const [first] = world.history.journal.resolved(taskId);
      expect(output).toBe(first?.key === 'q' ? 'answered' : 'slept');
      expect(world.history.journal.row(taskId, `${output}`)?.status).toBe('done');
    },
  })));

test('allSettled gives the same array, and any the same winner', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const settled = await Promise.allSettled([
          task.step('good', side.returns()),
          task.step('bad', side.fails(99)),
          task.ask('q', QUESTION),
        ]);
        const any = await Promise.any([
          task.step('worse', side.fails(99)).then(() => 'step'),
          task.sleep('z', 10).then(() => 'sleep'),
        ]);
        return [...settled.map(({ status }) => status), any];
      },
    },
    check(world, taskId) {
      expect(world.task(taskId).output).toEqual(['fulfilled', 'rejected', 'fulfilled', 'sleep']);
    },
  })));

test('a loop has a key and an event for each round', () =>
  survives(() => ({
    agents: {
      async main(task, side) {
        const values: string[] = [];
        for (let n = 0; n < 3; n++) {
          values.push(await task.step('x', side.returns(`${n}: `)));
          await task.emit('a.round', { n });
        }
        return values;
      },
    },
    check(world, taskId) {
      const rows = world.history.journal.resolved(taskId);
      expect(rows.map(({ key }) => key)).toEqual(['x', 'x#2', 'x#3']);
      expect(told(world, taskId, 'a.round')).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
      expect(world.task(taskId).output).toEqual([0, 1, 2].map((n) => expect.stringMatching(new RegExp(`^${n}: `))));
    },
  })));
