import { expect, test } from 'vitest';
import type { VerbCall } from '../../src/model/batch.ts';
import { heldTask, leaseLost } from '../../src/model/fence.ts';
import { taskError } from '../../src/model/task-error.ts';
import { View } from '../../src/model/view.ts';
import { answer, askArgs, claim, givenRunningTask, givenWaitingTask, lease, TASK } from './given.ts';

function viewOf(...tables: ReturnType<typeof givenRunningTask>[]): View {
  const view = new View({ owner: 'local', head: 0, prunedSeq: 0, epoch: null });
  for (const table of tables) view.load({ tasks: table.tasks.values() });
  return view;
}

test('knows the holder of the newest claim', () => {
  const table = givenRunningTask();

  expect(heldTask(viewOf(table), lease())).toBe(table.task(TASK));
});

test.each([
  ['an older fence', viewOf(givenRunningTask()), lease({ fence: 0 })],
  ['a fence that was never given', viewOf(givenRunningTask()), lease({ fence: 2 })],
  ['a task at rest', viewOf(givenWaitingTask()), lease()],
  ['an unknown task', viewOf(), lease()],
])('knows no holder by %s', (_what, view, held) => {
  expect(heldTask(view, held)).toBeNull();
});

test('says which fence has lost which task', () => {
  const { outcome } = leaseLost(lease({ fence: 3 }));

  expect(outcome).toEqual({
    ...{ ok: false, code: 'lease_lost', details: {} },
    message: `${TASK} is no longer held under fence 3.`,
  });
});

const old = lease({ fence: 1 });
const step = { name: 'charge', attempt: 1 };
const writes: VerbCall[] = [
  { verb: 'appendEvents', args: { ...old, events: [{ taskId: TASK, type: 'a.note', step: null, data: '{}' }] } },
  { verb: 'startStep', args: { ...old, step, messageId: null, tool: null } },
  { verb: 'settleStep', args: { ...old, step, ms: 1, outcome: { status: 'completed' }, message: null, tool: null } },
  { verb: 'askQuestion', args: askArgs({ ...old, questionId: 'qst_b' }) },
  { verb: 'withdrawQuestion', args: { ...old, key: 'dates' } },
  { verb: 'startTimer', args: { ...old, key: 'nap', ms: 1 } },
  { verb: 'waitTask', args: { ...old, keys: ['dates'] } },
  { verb: 'wakeTask', args: old },
  { verb: 'finishTask', args: { ...old, output: null } },
  { verb: 'failTask', args: { ...old, error: taskError('agent_error', 'late'), when: 'now' } },
];

test.each(writes.map((call) => [call.verb, call] as const))(
  'refuses %s of a worker that was overtaken by another claim',
  (_verb, call) => {
    const table = givenWaitingTask();
    table.run(answer('june'));
    table.run(claim);
    const before = table.records();

    const { outcome } = table.run(call);

    expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
    expect(table.records()).toEqual(before);
  },
);
