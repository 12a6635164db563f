import { describe, expect, test } from 'vitest';
import type { VerbCall } from '../../src/model/batch.ts';
import {
  DEFAULT_MAX_UNFINISHED,
  MAX_CONVERSATION_UNFINISHED,
  MAX_TASK_EVENTS,
  MAX_TASK_EVENTS_LENGTH,
  MAX_TASK_QUESTIONS,
  MAX_UNFINISHED_BELOW,
} from '../../src/model/limits.ts';
import { taskError } from '../../src/model/task-error.ts';
import {
  answer,
  append,
  askArgs,
  begin,
  CHILD,
  CONVERSATION,
  cancel,
  createArgs,
  fail,
  finish,
  givenCancelledTask,
  givenConversation,
  givenQuestion,
  givenRunningTask,
  givenTurn,
  lease,
  note,
  post,
  QUESTION,
  sleep,
  spawn,
  steer,
  TASK,
  wait,
} from './given.ts';
import { Table } from './table.ts';

/** A running task as so many events have left it. */
function givenTalker(counts: { eventCount?: number; eventsLength?: number }): Table {
  const table = givenRunningTask();
  table.tasks.set(TASK, { ...table.task(TASK), ...counts });
  return table;
}

describe('a task that has more events than it may', () => {
  const step = { name: 'charge', attempt: 1 };
  const settled = { status: 'completed', value: '1' } as const;
  const CALLS: VerbCall[] = [
    append(0, [note()]),
    begin(),
    {
      verb: 'settleStep',
      args: { ...lease(), step, askedAt: 0, once: false, ms: 1, outcome: settled, message: null, tool: null },
    },
    { verb: 'askQuestion', args: askArgs() },
    { verb: 'withdrawQuestion', args: { ...lease(), key: 'dates', askedAt: 0 } },
    { verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 0 } },
    { verb: 'readHistory', args: { ...lease(), key: 'history', askedAt: 0 } },
    sleep(),
    spawn(),
    wait('dates'),
    finish,
  ];

  test('is still given the last ones that come in one write', () => {
    const table = givenTalker({ eventCount: MAX_TASK_EVENTS - 1 });

    const { outcome, events } = table.run(append(0, [note(), note(), note()]));

    expect(outcome.ok).toBe(true);
    expect(events).toHaveLength(3);
    expect(table.task(TASK)).toMatchObject({ eventCount: MAX_TASK_EVENTS + 2, emits: 3 });
  });

  test.each(CALLS)('can write nothing more: $verb', (call) => {
    const table = givenTalker({ eventCount: MAX_TASK_EVENTS + 1 });
    const before = table.records();

    const { outcome } = table.run(call);

    expect(outcome).toMatchObject({ ok: false, code: 'limit_exceeded', message: 'A task may have 100000 events.' });
    expect(table.records()).toEqual(before);
  });

  test('is told of its JSON likewise', () => {
    const table = givenTalker({ eventsLength: MAX_TASK_EVENTS_LENGTH + 1 });

    const { outcome } = table.run(append(0, [note()]));

    expect(outcome).toMatchObject({
      code: 'limit_exceeded',
      message: 'The events of a task may hold 256 MiB of JSON in all.',
    });
  });

  test('is none when it has just so many', () => {
    const table = givenTalker({
      eventCount: MAX_TASK_EVENTS - 1,
      eventsLength: MAX_TASK_EVENTS_LENGTH - note().data.length,
    });

    expect(table.run(append(0, [note()])).outcome.ok).toBe(true);
    expect(table.run(finish).outcome.ok).toBe(true);
  });

  test('fails for good, and its end is told however many events it has', () => {
    const table = givenTalker({ eventCount: MAX_TASK_EVENTS + 1 });
    const error = taskError('limit_exceeded', 'A task may have 100000 events.');

    table.run(fail({ error, when: 'cut' }));

    expect(table.task(TASK)).toMatchObject({ status: 'failed', error, held: true });
    expect(table.told.at(-1)).toMatchObject({ type: 'task.failed' });
  });

  test('can be answered and cancelled as any other', () => {
    const table = givenQuestion();
    table.tasks.set(TASK, { ...table.task(TASK), eventCount: MAX_TASK_EVENTS + 1 });

    expect(table.run(answer('june')).outcome.ok).toBe(true);
    expect(table.run(cancel).outcome.ok).toBe(true);
  });

  test('has lost its lease first, where it has', () => {
    const table = givenTalker({ eventCount: MAX_TASK_EVENTS + 1 });

    const { outcome } = table.run({ verb: 'finishTask', args: { ...lease({ fence: 9 }), output: null } });

    expect(outcome).toMatchObject({ code: 'lease_lost' });
  });
});

describe('questions', () => {
  test('are refused to a task that has too many pending', () => {
    const table = givenRunningTask();
    for (let n = 1; n <= MAX_TASK_QUESTIONS; n++) {
      table.run({ verb: 'askQuestion', args: askArgs({ questionId: `qst_${n}`, key: `dates#${n}` }) });
    }

    const { outcome, events } = table.run({ verb: 'askQuestion', args: askArgs() });

    expect(outcome).toMatchObject({
      code: 'limit_exceeded',
      message: 'A task may have 100 questions pending at once.',
    });
    expect(events).toEqual([]);
    expect(table.task(TASK).pendingQuestionCount).toBe(MAX_TASK_QUESTIONS);
  });

  test('are refused while an owner has too many pending, and not when one of them was answered', () => {
    const table = givenQuestion();
    table.log = { ...table.log, pendingQuestions: DEFAULT_MAX_UNFINISHED };
    const next = { verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'more' }) } as const;
    expect(table.run(next).outcome).toMatchObject({ code: 'limit_exceeded' });

    table.run(answer('june'));

    expect(table.run(next).outcome.ok).toBe(true);
    expect(table.question(QUESTION).resolution?.status).toBe('answered');
  });
});

describe('children', () => {
  test('fail at once when too many are unfinished in their tree, and their parent is told', () => {
    const table = givenRunningTask();
    table.tasks.set(TASK, { ...table.task(TASK), unfinishedBelow: MAX_UNFINISHED_BELOW });

    const { outcome } = table.run(spawn());

    expect(outcome.ok).toBe(true);
    expect(table.task(CHILD)).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' } });
    expect(table.row(TASK, 'flights>')).toMatchObject({ status: 'failed' });
    expect(table.task(TASK)).toMatchObject({ status: 'running', unfinishedBelow: MAX_UNFINISHED_BELOW });
  });

  test('make room for others when they end', () => {
    const table = givenRunningTask();
    table.run(spawn());
    expect(table.task(TASK).unfinishedBelow).toBe(1);

    table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });

    expect(table.task(TASK).unfinishedBelow).toBe(0);
  });
});

describe('what clients begin', () => {
  const refusal = { ok: false, code: 'rate_limited', message: 'There are 1 unfinished tasks, and may be 1.' };
  const idempotency = { key: 'k', fingerprint: 'f' };
  const another = (maxUnfinished?: number) =>
    ({ verb: 'createTask', args: createArgs({ taskId: 'task_b', maxUnfinished }), idempotency }) as const;

  test('is refused where so many are unfinished, and does not use up its key', () => {
    const table = givenRunningTask();
    expect(table.run(another(1)).outcome).toMatchObject(refusal);
    expect(table.keys.size).toBe(0);

    table.run(finish);

    expect(table.run(another(1)).outcome).toMatchObject({ ok: true, replayed: false });
  });

  test('is the same again for a request that was done, however many are unfinished since', () => {
    const table = new Table();
    table.run(another(1));

    expect(table.run(another(1)).outcome).toMatchObject({ ok: true, replayed: true });
  });

  test('is no more than there is room for, where many race in one transaction', () => {
    const table = new Table();
    const calls = Array.from({ length: 5 }, (_, n): VerbCall => {
      return { verb: 'createTask', args: createArgs({ taskId: `task_${n}`, maxUnfinished: 3 }) };
    });

    const { outcomes } = table.commit(calls);

    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false, false]);
    expect(table.log.unfinishedRoots).toBe(3);
  });

  test('may be ten thousand where nobody says otherwise', () => {
    const table = new Table();
    table.log = { ...table.log, unfinishedRoots: DEFAULT_MAX_UNFINISHED - 1 };

    const outcomes = ['task_a', 'task_b'].map((taskId) =>
      table.run({ verb: 'createTask', args: createArgs({ taskId }) }),
    );

    expect(outcomes.map(({ outcome }) => outcome.ok)).toEqual([true, false]);
  });

  test('does not count children', () => {
    const table = givenRunningTask();
    table.run(spawn());

    expect(table.log.unfinishedRoots).toBe(1);
  });

  test('is refused for a retry as well', () => {
    const table = givenCancelledTask();
    table.run({ verb: 'createTask', args: createArgs({ taskId: 'task_b' }) });

    const { outcome } = table.run({ verb: 'retryTask', args: { taskId: TASK, newTaskId: 'task_c', maxUnfinished: 1 } });

    expect(outcome).toMatchObject(refusal);
  });

  test.each(['interrupt', 'enqueue'] as const)('is refused for a message that begins a turn: %s', (whenBusy) => {
    const table = givenConversation();
    table.run({ verb: 'createTask', args: createArgs({ taskId: 'task_b' }) });

    expect(table.run(post('c', { maxUnfinished: 1, whenBusy })).outcome).toMatchObject(refusal);
    expect(table.conversations.get(CONVERSATION)?.agent).toBe(null);
  });

  test('is never refused for a message that takes the place of what it interrupts, nor for one that begins nothing', () => {
    const table = givenTurn();

    expect(table.run({ ...steer('b'), args: { ...steer('b').args, maxUnfinished: 1 } }).outcome.ok).toBe(true);
    expect(table.run(post('c', { whenBusy: 'interrupt', maxUnfinished: 1 })).outcome.ok).toBe(true);
    expect(table.log.unfinishedRoots).toBe(1);
  });

  test.each(['a task', 'a message', 'a retry'])('is bounded in a conversation: %s', (what) => {
    const table = givenConversation();
    table.run(createIn('task_0'));
    table.run({ verb: 'cancelTask', args: { taskId: 'task_0', reason: null } });
    for (let n = 1; n <= MAX_CONVERSATION_UNFINISHED; n++) table.run(createIn(`task_${n}`));

    const { outcome } = table.run<VerbCall>(
      what === 'a task'
        ? createIn('task_more')
        : what === 'a message'
          ? post('more')
          : { verb: 'retryTask', args: { taskId: 'task_0', newTaskId: 'task_more' } },
    );

    const message = 'A conversation may have 100 unfinished tasks.';
    expect(outcome).toMatchObject({ ok: false, code: 'rate_limited', message });
    expect(table.run({ verb: 'createTask', args: createArgs() }).outcome.ok).toBe(true);
  });
});

function createIn(taskId: string) {
  return { verb: 'createTask', args: createArgs({ taskId, conversationId: CONVERSATION }) } as const;
}
