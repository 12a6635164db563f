import type { Question } from '../../../src/model/question.ts';
import type { Task } from '../../../src/model/task.ts';
import { SCRIPTED_FAILURE } from '../agents/perform.ts';
import { scriptOf } from '../agents/script.ts';
import type { Block, Life, Request } from '../history.ts';
import type { Story } from '../story.ts';
import { EPOCH_MS, type Happened, logOf } from './hand-made-log.ts';

const ANSWERS = { way: 'left', note: 'ann:1' };
const ITEMS: Question['items'] = [];

/** A short story in which everything is right, with something of everything that rules look at. */
export function goodStory(): Story {
  const log = logOf(EVENTS);
  const all = log.map(({ id, text }): Block => ({ id, event: null, data: text }));
  const caughtUp: Block = { id: `e.${log.length}`, event: 'caught-up', data: '{}' };
  const end = (of: string): Block => ({
    id: log.findLast(({ taskId }) => taskId === of)?.id ?? '',
    event: 'end',
    data: '{}',
  });
  const ofFailing = all.filter((_, index) => log[index]?.taskId === FAILING);
  // What had ended when it began is not retold.
  const until = log.findIndex(({ type, taskId }) => type === 'task.failed' && taskId === FAILING) + 1;
  const retelling = all.flatMap((block, index) => {
    if (index >= until) return [block];
    return log[index]?.taskId === FAILING ? [] : [{ ...block, id: `${block.id}.${until}` }];
  });
  return {
    log,
    readings: [
      {
        reader: 'from the beginning',
        path: '/v1/events',
        connections: [
          { asked: '0', status: 200, blocks: all.slice(0, 5) },
          { asked: 'e.5', status: 200, blocks: [...all.slice(5), caughtUp] },
        ],
      },
      { reader: 'unfinished', path: '/v1/events', connections: [{ asked: null, status: 200, blocks: retelling }] },
      {
        reader: 'one task',
        path: `/v1/tasks/${FAILING}/events`,
        connections: [
          { asked: null, status: 200, blocks: [...ofFailing, end(FAILING)] },
          { asked: end(FAILING).id, status: 204, blocks: [] },
        ],
      },
    ],
    requests: REQUESTS,
    lives: [life(1, 'kill', null, 'SIGKILL'), life(2, 'stop', 0, null)],
    effects: [
      effect('main.step-0', 1, 'lost', 1, 25),
      effect('main.step-0', 2, 'nonce-1', 2, 45),
      effect('main.once-0', 1, 'nonce-2', 2, 52, true),
    ],
    tasks: [
      task(PARENT, 'completed', { output: OUTPUT }),
      task(CHILD, 'completed', { parentId: PARENT, rootId: PARENT, output: CHILD_OUTPUT }),
      task(FAILING, 'failed', { error: FAILURE }),
      task(CANCELLED, 'cancelled'),
    ],
    questions: [{ ...QUESTION, status: 'answered', answers: ANSWERS, resolvedBy: 'local', resolvedAt: '' }],
    stuck: [],
    mayReset: false,
  };
}

export const PARENT = 'task_parent';
export const CHILD = 'task_child';
export const FAILING = 'task_failing';
export const CANCELLED = 'task_cancelled';
export const QUESTION_ID = 'qst_1';

const FAILURE = { code: 'agent_error', message: SCRIPTED_FAILURE };
const QUESTION: Question = {
  id: QUESTION_ID,
  taskId: PARENT,
  conversationId: null,
  name: 'main.ask-0',
  status: 'pending',
  items: ITEMS,
  metadata: {},
  answers: null,
  resolvedBy: null,
  reason: null,
  askedAt: '',
  expiresAt: null,
  resolvedAt: null,
};
const HEARD = { status: 'answered', answers: ANSWERS, resolvedBy: 'local' };
const CHILD_OUTPUT = { ticket: 'ticket-1/main.child-0', told: [], values: {} };
const TOLD = [
  { type: 'chaos.told', data: { n: 1, branch: 'main', b: 1 } },
  { type: 'task.progress', data: { fraction: 0.5, note: '2' } },
  { type: 'chaos.heard', data: { n: 3, branch: 'main', b: 2, key: 'main.ask-0', reply: HEARD } },
  { type: 'chaos.spawned', data: { n: 4, branch: 'main', b: 3, key: 'main.child-0', childId: CHILD } },
  {
    type: 'chaos.child',
    data: { n: 5, branch: 'main', b: 4, key: 'main.child-0', childId: CHILD, status: 'completed' },
  },
] as const;
const OUTPUT = {
  ticket: 'ticket-1',
  told: [...TOLD],
  values: {
    'main.step-0': 'nonce-1',
    'main.once-0': 'nonce-2',
    'main.ask-0': HEARD,
    'main.child-0': { status: 'completed', output: CHILD_OUTPUT },
  },
};
const STEP = { name: 'main.step-0', attempt: 1 };
const STEP_AGAIN = { name: 'main.step-0', attempt: 2 };
const ONCE = { name: 'main.once-0', attempt: 1 };

const EVENTS: Happened[] = [
  {
    ms: 0,
    type: 'task.created',
    taskId: PARENT,
    data: { agent: 'scripted', input: input(1, 'completed'), parentId: null },
  },
  { ms: 10, type: 'task.started', taskId: PARENT, data: { attempt: 1 } },
  { type: 'task.created', taskId: FAILING, data: { agent: 'scripted', input: input(2, 'failed'), parentId: null } },
  { ms: 11, ...TOLD[0], taskId: PARENT },
  { ms: 12, ...TOLD[1], taskId: PARENT },
  { ms: 13, type: 'task.started', taskId: FAILING, data: { attempt: 1 } },
  { ms: 14, type: 'task.failed', taskId: FAILING, data: { error: FAILURE } },
  { ms: 20, type: 'step.started', taskId: PARENT, data: STEP },
  { type: 'message.started', taskId: PARENT, data: { messageId: 'msg_1' }, step: STEP },
  { ms: 21, type: 'chaos.inside', taskId: PARENT, data: { key: 'main.step-0', attempt: 1, k: 1, of: 1 }, step: STEP },
  { ms: 22, type: 'message.delta', taskId: PARENT, data: { messageId: 'msg_1', text: 'lo' }, step: STEP },
  { ms: 30, type: 'task.recovered', taskId: PARENT, data: { attempt: 2, reason: 'process_ended' } },
  { ms: 40, type: 'message.discarded', taskId: PARENT, data: { messageId: 'msg_1' }, step: STEP },
  { type: 'task.started', taskId: PARENT, data: { attempt: 2 } },
  { ms: 41, type: 'step.started', taskId: PARENT, data: STEP_AGAIN },
  { type: 'message.started', taskId: PARENT, data: { messageId: 'msg_2' }, step: STEP_AGAIN },
  {
    ms: 42,
    type: 'chaos.inside',
    taskId: PARENT,
    data: { key: 'main.step-0', attempt: 2, k: 1, of: 1 },
    step: STEP_AGAIN,
  },
  { ms: 46, type: 'message.delta', taskId: PARENT, data: { messageId: 'msg_2', text: 'hello' }, step: STEP_AGAIN },
  {
    ms: 50,
    type: 'message.completed',
    taskId: PARENT,
    data: { message: { id: 'msg_2', status: 'complete', content: 'hello' } },
    step: STEP_AGAIN,
  },
  { type: 'step.completed', taskId: PARENT, data: { ...STEP_AGAIN, ms: 5 } },
  { ms: 51, type: 'step.started', taskId: PARENT, data: ONCE },
  { ms: 53, type: 'step.completed', taskId: PARENT, data: { ...ONCE, ms: 2 } },
  { ms: 60, type: 'question.asked', taskId: PARENT, data: { question: QUESTION } },
  { ms: 61, type: 'task.waiting', taskId: PARENT, data: { questionIds: [QUESTION_ID] } },
  {
    ms: 70,
    type: 'question.answered',
    taskId: PARENT,
    data: { questionId: QUESTION_ID, answers: ANSWERS, resolvedBy: 'local' },
  },
  { type: 'task.resumed', taskId: PARENT, data: {} },
  { ms: 71, ...TOLD[2], taskId: PARENT },
  { ms: 80, type: 'task.created', taskId: CHILD, data: { agent: 'scripted', input: childInput(), parentId: PARENT } },
  { ms: 81, ...TOLD[3], taskId: PARENT },
  { ms: 82, type: 'task.started', taskId: CHILD, data: { attempt: 1 } },
  { ms: 83, type: 'task.completed', taskId: CHILD, data: { output: CHILD_OUTPUT } },
  { ms: 84, ...TOLD[4], taskId: PARENT },
  { ms: 90, type: 'task.completed', taskId: PARENT, data: { output: OUTPUT } },
  {
    ms: 91,
    type: 'task.created',
    taskId: CANCELLED,
    data: { agent: 'scripted', input: input(3, 'completed'), parentId: null },
  },
  { ms: 92, type: 'task.cancelled', taskId: CANCELLED, data: { reason: 'canceller:1' } },
];

const REQUESTS: Request[] = [
  request('create', 'ticket-1', { agent: 'scripted', input: input(1, 'completed') }, 202, { id: PARENT }),
  request('create', 'ticket-2', { agent: 'scripted', input: input(2, 'failed') }, 202, { id: FAILING }),
  request('create', 'ticket-3', { agent: 'scripted', input: input(3, 'completed') }, 202, { id: CANCELLED }),
  request('answer', QUESTION_ID, { answers: ANSWERS }, 200, {}),
  request('answer', QUESTION_ID, { answers: { way: 'right', note: 'bob:1' } }, 409, {
    question: { ...QUESTION, status: 'answered', answers: ANSWERS },
  }),
  request('cancel', CANCELLED, { reason: 'canceller:1' }, 200, {}),
];

function input(n: number, ending: 'completed' | 'failed') {
  const common = { spawns: false, retries: false, depth: 0 };
  let seed = 1;
  while (scriptOf({ seed, ...common }).ending !== ending) seed += 1;
  return { seed, ...common, ticket: `ticket-${n}`, effects: 'effects.jsonl' };
}

function childInput() {
  return { ...input(1, 'completed'), ticket: CHILD_OUTPUT.ticket };
}

function request(verb: Request['verb'], target: string, body: Request['body'], status: number, reply: object): Request {
  const tries = [{ at: EPOCH_MS, status, code: null }];
  return {
    client: 'ann',
    verb,
    target,
    path: '',
    body,
    key: null,
    tries,
    reply: { status, replayed: false, body: reply },
  };
}

function life(pid: number, endedBy: Life['endedBy'], code: number | null, signal: string | null): Life {
  const bootedAt = EPOCH_MS + (pid - 1) * 30;
  const readyAt = bootedAt + 1;
  const [endedAt, toldToEndAt] = [bootedAt + 28, bootedAt + 20];
  const times = { bootedAt, readyAt, toldToEndAt, endedAt, pauses: [] };
  return { pid, ...times, endedBy, mayEndItself: false, code, signal, stderr: '' };
}

function effect(key: string, attempt: number, nonce: string, pid: number, ms: number, once = false) {
  return { taskId: PARENT, key, attempt, taskAttempt: pid, nonce, once, at: EPOCH_MS + ms, pid };
}

function task(id: string, status: Task['status'], rest: Partial<Task> = {}): Task {
  return {
    id,
    agent: 'scripted',
    status,
    conversationId: null,
    parentId: null,
    rootId: id,
    retryOf: null,
    input: null,
    output: null,
    error: null,
    progress: null,
    attempt: 1,
    pendingQuestionCount: 0,
    metadata: {},
    priority: 0,
    concurrencyKey: null,
    timeoutMs: 1_800_000,
    maxAttempts: 1,
    runAt: null,
    createdAt: '',
    startedAt: null,
    finishedAt: null,
    cursor: { before: '', last: '' },
    ...rest,
  };
}
