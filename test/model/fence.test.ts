import { expect, test } from 'vitest';
import type { VerbCall } from '../../src/model/batch.ts';
import { heldTask, leaseLost } from '../../src/model/fence.ts';
import { View } from '../../src/model/view.ts';
import {
  answer,
  append,
  askArgs,
  begin,
  claim,
  fail,
  finish,
  givenRunningTask,
  givenWaitingTask,
  lease,
  note,
  settle,
  sleep,
  spawn,
  TASK,
  wait,
} from './given.ts';

function viewOf(...tables: ReturnType<typeof givenRunningTask>[]): View {
  const view = new View({
    owner: 'local',
    head: 0,
    prunedSeq: 0,
    epoch: null,
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
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

const writes: VerbCall[] = [
  append(0, [note()]),
  begin(),
  settle(),
  { verb: 'askQuestion', args: askArgs({ questionId: 'qst_b' }) },
  { verb: 'withdrawQuestion', args: { ...lease(), key: 'dates', askedAt: 0 } },
  sleep(),
  { verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 0 } },
  spawn(),
  wait('dates'),
  { verb: 'wakeTask', args: lease() },
  finish,
  fail(),
  fail({ when: 'deadline' }),
  { verb: 'requeueTask', args: { ...lease(), cause: 'worker_lost' } },
  { verb: 'releaseTask', args: lease() },
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
