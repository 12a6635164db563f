import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Copies, createCopies } from '../../src/engine/copies.ts';
import type { NumberedReport } from '../../src/engine/copy.ts';
import { createLog, type Log } from '../../src/engine/log.ts';
import { verbOfReport } from '../../src/engine/report-verb.ts';
import type { VerbCall } from '../../src/model/batch.ts';
import { taskError } from '../../src/model/task-error.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { Command, CopyReport } from '../../src/worker/protocol.ts';
import { createArgs, newId } from '../support/store-owner.ts';

/** What the copies of a real store's tasks are told: the test is the worker. */
let store: Store;
let log: Log;
let copies: Copies;
let now: number;
let sent: Command[];
let happened: string[];
const reports = new WeakMap<VerbCall, NumberedReport>();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  now = Date.UTC(2026, 10, 30);
  sent = [];
  happened = [];
  store = openSqliteStoreInProcess({ dir: ':memory:', now: () => now });
  copies = createCopies({
    warmMs: 10_000,
    send: (command) => sent.push(command),
    reportOf: (call) => reports.get(call) ?? null,
    onStranded: ({ taskId }) => happened.push(`stranded ${taskId}`),
    onParked: (_owner, { taskId, fence }) => happened.push(`parked ${taskId} ${fence}`),
    onCut: ({ taskId, fence }) => happened.push(`cut ${taskId} ${fence}`),
  });
  const onFatal = (error: unknown) => {
    throw error;
  };
  log = createLog({ store, listeners: [copies.committed], follow: () => null, onFatal });
});

afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

async function create(given: Parameters<typeof createArgs>[0] = {}): Promise<string> {
  const args = createArgs(given);
  await log.commit('ann', [{ verb: 'createTask', args }]);
  return args.taskId;
}

async function claim(taskId: string, warm = copies.claim(taskId)): Promise<void> {
  await log.commit('ann', [{ verb: 'claimTask', args: { taskId, version: '1', warm, node: store.node } }]);
}

/** Commits reports of copies, which go on from number `n`, in one transaction. */
async function report(taskId: string, n: number, ...given: CopyReport[]) {
  const fence = (await store.task('ann', taskId))?.fence ?? 0;
  const calls = given.map((each, at) => {
    const numbered: NumberedReport = { taskId, fence, n: n + at, ...each };
    const call = verbOfReport(numbered, undefined);
    reports.set(call, numbered);
    return call;
  });
  return log.commit('ann', calls);
}

const ITEM = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;
const QUESTION = newId('qst');
const ASK: CopyReport = {
  ...{ kind: 'ask', questionId: QUESTION, key: 'go', askedAt: 0 },
  ...{ items: [ITEM], metadata: {}, timeoutMs: null },
};
const WAIT: CopyReport = { kind: 'wait', ord: 0, keys: ['go'] };
const STEP = { name: 'fly', attempt: 1 };

function startStep(name = 'fly'): CopyReport {
  const step = { name, attempt: 1 };
  return { kind: 'startStep', step, askedAt: 0, once: false, messageId: null, tool: null };
}

function settleStep(name = 'fly'): CopyReport {
  const outcome = { status: 'completed', value: '7' } as const;
  const step = { name, attempt: 1 };
  return { kind: 'settleStep', step, askedAt: 0, once: false, ms: 1, outcome, message: null, tool: null };
}

async function waiting(): Promise<string> {
  const taskId = await create();
  await claim(taskId);
  await report(taskId, 1, ASK);
  await report(taskId, 2, WAIT);
  sent = [];
  return taskId;
}

async function answer(): Promise<void> {
  const args = { questionId: QUESTION, given: { answer: true }, resolvedBy: 'ann' };
  await log.commit('ann', [{ verb: 'answerQuestion', args }]);
}

const kinds = () => sent.map(({ kind }) => kind);

describe('a claim', () => {
  test('starts a copy with the journal, and with all that tells where it stands', async () => {
    const taskId = await create({ agent: 'planner', input: 1 });
    await claim(taskId);
    await report(taskId, 1, startStep(), settleStep());
    await log.commit('ann', [{ verb: 'requeueTask', args: { taskId, fence: 1, cause: 'worker_lost' } }]);
    sent = [];

    await claim(taskId, false);

    expect(sent).toEqual([
      {
        ...{
          kind: 'start',
          taskId,
          fence: 2,
          agent: 'planner',
          attempt: 2,
          version: '1',
          conversationId: null,
          input: 1,
        },
        ...{ seed: taskId, originAt: now, emits: 0, marks: [] },
        rows: [
          {
            ...{ key: STEP.name, kind: 'step', status: 'done', value: '7', askedAt: 0, ord: 1, emitsDone: 0, at: now },
            ...{ tries: 1, once: false },
          },
        ],
      },
    ]);
  });

  test('is given to the copy that waits, with what was resolved meanwhile', async () => {
    const taskId = await waiting();
    await answer();
    expect(sent).toEqual([]);

    await claim(taskId);

    expect(sent).toMatchObject([
      { kind: 'adopt', taskId, fence: 2, resolutions: [{ key: 'go', ord: 1, status: 'answered' }] },
    ]);
    expect(copies.get(taskId)).toMatchObject({ status: 'running', fence: 2 });
  });

  test('with the journal is given to it as well, if it has come to wait meanwhile', async () => {
    const taskId = await waiting();
    await answer();

    await claim(taskId, false);

    expect(kinds()).toEqual(['adopt']);
  });

  test('that is refused leaves the copy where it was', async () => {
    const taskId = await waiting();

    await claim(taskId);

    expect(copies.get(taskId)?.status).toBe('waiting');
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([{ kind: 'drop', taskId, fence: 1, reason: 'parked' }]);
  });

  test('for a copy that was lost on the way is given back', async () => {
    const taskId = await waiting();
    await answer();
    const warm = copies.claim(taskId);
    const copy = copies.get(taskId);
    if (copy !== undefined) copies.lose(copy);

    await claim(taskId, warm);

    expect(sent).toEqual([]);
    expect(happened).toEqual([`parked ${taskId} 2`]);
  });
});

describe('a commit', () => {
  test('is told in two commands: what it resolved, and then that the reports are on disk', async () => {
    const taskId = await create();
    await claim(taskId);
    sent = [];

    await report(taskId, 1, startStep('a'), startStep('b'), settleStep('b'), settleStep('a'));

    expect(sent).toMatchObject([
      {
        kind: 'resolve',
        taskId,
        fence: 1,
        resolutions: [
          { key: 'b', ord: 1 },
          { key: 'a', ord: 2 },
        ],
      },
      { kind: 'ack', taskId, fence: 1, n: 4 },
    ]);
  });

  test('from outside is told to the copy that runs', async () => {
    const taskId = await create();
    await claim(taskId);
    await report(taskId, 1, ASK);
    sent = [];

    await answer();

    expect(sent).toMatchObject([
      { kind: 'resolve', taskId, fence: 1, resolutions: [{ key: 'go', status: 'answered' }] },
    ]);
  });

  test('answers a wait that has come too late, after what it did not know', async () => {
    const taskId = await create();
    await claim(taskId);
    await report(taskId, 1, ASK);
    sent = [];

    await answer();
    await report(taskId, 2, WAIT);

    expect(sent).toMatchObject([{ kind: 'resolve' }, { kind: 'waited', n: 2, answer: 'already' }]);
    expect(copies.running()).toBe(1);
  });

  test('that ends a task by its own report is acknowledged, and the copy is gone', async () => {
    const taskId = await create();
    await claim(taskId);
    sent = [];

    await report(taskId, 1, { kind: 'end', ending: { status: 'completed', output: 1 } });

    expect(sent).toEqual([{ kind: 'ack', taskId, fence: 1, n: 1 }]);
    expect(copies.get(taskId)).toBeUndefined();
    expect(happened).toEqual([]);
  });

  test('that refuses a report for another reason than its claim strands the copy', async () => {
    const taskId = await create();
    await claim(taskId);

    await report(taskId, 1, { kind: 'wait', ord: 0, keys: ['nothing'] });

    expect(happened).toEqual([`stranded ${taskId}`]);
  });
});

describe('a task that ends without its copy', () => {
  test('takes the copy with it, and its worker has to let go of it', async () => {
    const taskId = await create();
    await claim(taskId);
    sent = [];

    await log.commit('ann', [{ verb: 'cancelTask', args: { taskId, reason: null } }]);

    expect(sent).toEqual([{ kind: 'drop', taskId, fence: 1, reason: 'cancelled' }]);
    expect(happened).toEqual([`cut ${taskId} 1`]);
    expect(copies.running()).toBe(0);
  });

  test('holds nothing when it was waiting', async () => {
    const taskId = await waiting();

    await log.commit('ann', [{ verb: 'cancelTask', args: { taskId, reason: null } }]);

    expect(sent).toEqual([{ kind: 'drop', taskId, fence: 1, reason: 'cancelled' }]);
    expect(happened).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(sent).toHaveLength(1);
  });

  test.each([1, 2])('for want of time is cut, with %i attempts in all', async (maxAttempts) => {
    const taskId = await create({ timeoutMs: 1000, maxAttempts });
    await claim(taskId);
    sent = [];
    now += 1000;
    const error = taskError('timeout', 'Too long.');

    await log.commit('ann', [
      { verb: 'failTask', args: { taskId, fence: 1, error, cut: null, when: 'deadline', jitter: 1 } },
    ]);

    expect(sent).toEqual([{ kind: 'drop', taskId, fence: 1, reason: 'timeout' }]);
    expect(happened).toEqual([`cut ${taskId} 1`]);
  });

  test('because its parent does is cut as well', async () => {
    const parent = await create();
    await claim(parent);
    const childId = newId('task');
    await report(parent, 1, { kind: 'spawn', key: 'kid', askedAt: 0, childId, agent: 'planner', input: null });
    await claim(childId);
    sent = [];

    await report(parent, 2, { kind: 'end', ending: { status: 'completed', output: null } });

    expect(sent).toMatchObject([
      { kind: 'drop', taskId: childId, reason: 'cancelled' },
      { kind: 'ack', taskId: parent, n: 2 },
    ]);
    expect(happened).toEqual([`cut ${childId} 1`]);
  });
});

describe('a copy that waits', () => {
  test('is parked after its time, and its next claim begins with the journal', async () => {
    const taskId = await waiting();
    expect(copies.warm()).toBe(1);

    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([{ kind: 'drop', taskId, fence: 1, reason: 'parked' }]);
    expect(copies.get(taskId)).toBeUndefined();

    await answer();
    await claim(taskId);
    expect(sent.at(-1)).toMatchObject({ kind: 'start', fence: 2, rows: [{ key: 'go', status: 'answered' }] });
  });

  test('is not parked while a claim for it is on its way', async () => {
    const taskId = await waiting();
    await answer();

    expect(copies.claim(taskId)).toBe(true);
    vi.advanceTimersByTime(60_000);

    expect(sent).toEqual([]);
    expect(copies.claim(taskId)).toBe(false);
  });
});

describe('a lost copy', () => {
  test('is told nothing more, and is gone when its task was taken from it', async () => {
    const taskId = await create();
    await claim(taskId);
    await report(taskId, 1, ASK);
    const copy = copies.get(taskId);
    sent = [];

    if (copy !== undefined) copies.lose(copy);
    await answer();
    expect(copies.running()).toBe(1);
    await log.commit('ann', [{ verb: 'requeueTask', args: { taskId, fence: 1, cause: 'drained' } }]);

    expect(sent).toEqual([]);
    expect(copies.running()).toBe(0);
    expect(copies.get(taskId)).toBeUndefined();
  });

  test('counts with what it has reported before: it may have come to rest', async () => {
    const taskId = await create();
    await claim(taskId);
    await report(taskId, 1, ASK);
    const copy = copies.get(taskId);

    if (copy !== undefined) copies.lose(copy);
    await report(taskId, 2, WAIT);
    const { outcomes } = await log.commit('ann', [
      { verb: 'requeueTask', args: { taskId, fence: 1, cause: 'worker_lost' } },
    ]);

    expect((await store.task('ann', taskId))?.status).toBe('waiting');
    expect(outcomes[0]).toMatchObject({ ok: false, code: 'lease_lost' });
    expect(copies.get(taskId)).toBeUndefined();
  });
});
