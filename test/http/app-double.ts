import { EventEmitter, once } from 'node:events';
import pino from 'pino';
import type { Conversations } from '../../src/engine/conversations.ts';
import type { Questions } from '../../src/engine/questions.ts';
import type { CreateTaskRequest, Tasks } from '../../src/engine/tasks.ts';
import { createApp } from '../../src/http/app.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import type { HttpApp, Operation } from '../../src/http/operation.ts';
import type { KeyUse } from '../../src/model/batch.ts';
import { HoldfastError } from '../../src/model/error.ts';
import type { Answers, Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import type { TaskFilter } from '../../src/store/store.ts';
import { openAccess } from '../support/open-access.ts';
import { openLimits } from '../support/open-limits.ts';

const IN_1970 = '1970-01-01T00:00:00.000Z';
const CURSOR = 'abcdefgh.7';

export const TASK: Task = {
  id: `task_${'0'.repeat(25)}1`,
  agent: 'echo',
  status: 'queued',
  conversationId: null,
  parentId: null,
  rootId: `task_${'0'.repeat(25)}1`,
  retryOf: null,
  input: null,
  output: null,
  error: null,
  progress: null,
  attempt: 0,
  pendingQuestionCount: 0,
  metadata: {},
  priority: 0,
  concurrencyKey: null,
  timeoutMs: 1_800_000,
  maxAttempts: 1,
  runAt: null,
  createdAt: IN_1970,
  startedAt: null,
  finishedAt: null,
  cursor: { before: 'abcdefgh.0', last: CURSOR },
};

export const QUESTION: Question = {
  id: `qst_${'0'.repeat(25)}1`,
  taskId: TASK.id,
  conversationId: null,
  name: 'dates',
  status: 'pending',
  items: [],
  metadata: {},
  answers: null,
  resolvedBy: null,
  reason: null,
  askedAt: IN_1970,
  expiresAt: null,
  resolvedAt: null,
};

export const NEW_TASK = `task_${'0'.repeat(25)}3`;
export const UNKNOWN_TASK = `task_${'0'.repeat(25)}2`;

/** What the app asked of the engine, in order. */
export interface Asked {
  created: CreateTaskRequest[];
  cancelled: (string | null)[];
  retried: string[];
  answered: ({ answers: Answers } | { answer: unknown })[];
  declined: (string | null)[];
  listed: TaskFilter[];
  waited: number[];
  keys: (KeyUse | undefined)[];
}

export interface AppDouble {
  app: HttpApp;
  asked: Asked;
  /** What was logged, one JSON object a line. */
  logged: string[];
  /** What the engine does next instead of its work. */
  failWith(error: unknown): void;
  /** How the tasks are from now on. */
  show(task: Task, list?: Task[]): void;
  isReady: boolean;
  /** Whether waits last until their client is gone. */
  holdsWaits: boolean;
  /** Emits `wait` when such a wait begins, and `gone` when its client is. */
  waits: EventEmitter;
}

/** The app over an engine of one task and one question, which only writes down what it was asked. */
export function createAppDouble(events: Operation[] = [], limits = openLimits()): AppDouble {
  const asked: Asked = {
    created: [],
    cancelled: [],
    retried: [],
    answered: [],
    declined: [],
    listed: [],
    waited: [],
    keys: [],
  };
  const logged: string[] = [];
  const keysSeen = new Set<string>();
  let failure: unknown = null;
  let shown = TASK;
  let listed = [TASK];

  function attempt(idempotency: KeyUse | undefined): { replayed: boolean; cursor: string } {
    if (failure !== null) throw failure;
    asked.keys.push(idempotency);
    const replayed = idempotency !== undefined && keysSeen.has(idempotency.key);
    if (idempotency !== undefined) keysSeen.add(idempotency.key);
    return { replayed, cursor: CURSOR };
  }

  const tasks: Tasks = {
    async create(_owner, request, idempotency) {
      const outcome = attempt(idempotency);
      asked.created.push(request);
      return { task: TASK, ...outcome };
    },
    async get(_owner, id) {
      if (id !== TASK.id) throw new HoldfastError('not_found', 'There is no such task.');
      return { task: shown, cursor: CURSOR };
    },
    async record() {
      throw new Error('Nothing here reads records.');
    },
    async list(_owner, filter) {
      if (failure !== null) throw failure;
      asked.listed.push(filter);
      return { tasks: listed.slice(0, filter.limit), cursor: CURSOR };
    },
    async cancel(_owner, _id, reason, idempotency) {
      const outcome = attempt(idempotency);
      asked.cancelled.push(reason);
      return { task: { ...TASK, status: 'cancelled' }, ...outcome };
    },
    async retry(_owner, id, idempotency) {
      const outcome = attempt(idempotency);
      asked.retried.push(id);
      return { task: { ...TASK, id: NEW_TASK, rootId: NEW_TASK, retryOf: id }, ...outcome };
    },
    async settled(_owner, _id, waitMs, signal) {
      asked.waited.push(waitMs);
      if (double.holdsWaits) {
        double.waits.emit('wait');
        await once(signal, 'abort');
        double.waits.emit('gone');
      }
      return { task: shown, cursor: CURSOR };
    },
  };

  const questions: Questions = {
    async get(_owner, id) {
      if (id !== QUESTION.id) throw new HoldfastError('not_found', 'There is no such question.');
      return { question: QUESTION, cursor: CURSOR };
    },
    list: async () => ({ questions: [QUESTION], cursor: CURSOR }),
    async answer(_owner, _id, given, _resolvedBy, idempotency) {
      const outcome = attempt(idempotency);
      asked.answered.push(given);
      return { question: QUESTION, ...outcome };
    },
    async decline(_owner, _id, reason, _resolvedBy, idempotency) {
      const outcome = attempt(idempotency);
      asked.declined.push(reason);
      return { question: QUESTION, ...outcome };
    },
  };

  const conversations: Conversations = {
    ...{ record: noConversation, get: noConversation, messages: noConversation },
    ...{ update: noConversation, delete: noConversation, post: noConversation },
    list: async () => ({ conversations: [], cursor: CURSOR }),
    async create(_owner, { title, metadata }, idempotency) {
      const outcome = attempt(idempotency);
      const times = { createdAt: TASK.createdAt, lastActivityAt: TASK.createdAt };
      return { conversation: { id: `conv_${'0'.repeat(25)}1`, title, metadata, ...times }, ...outcome };
    },
  };

  const double: AppDouble = {
    app: createApp({
      tasks,
      questions,
      conversations,
      agents: { list: async () => [{ name: 'echo', description: 'Says it again.', version: '1', inputSchema: null }] },
      events,
      access: openAccess(),
      hosts: [],
      origins: [],
      limits,
      readiness: async () => (double.isReady ? 'ready' : 'overloaded'),
      metrics: createMetrics(),
      logger: pino({ level: 'debug' }, { write: (line) => logged.push(line) }),
      version: '0.0.0',
    }),
    asked,
    logged,
    failWith(error) {
      failure = error;
    },
    show(task, list = [task]) {
      shown = task;
      listed = list;
    },
    isReady: true,
    holdsWaits: false,
    waits: new EventEmitter(),
  };
  return double;
}

/** POSTs a value as JSON, or text as it is. */
export function post(
  app: HttpApp,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return send(app, path, { method: 'POST', body: text, headers: { 'Content-Type': 'application/json', ...headers } });
}

export async function send(app: HttpApp, path: string, init: RequestInit = {}): Promise<Response> {
  return app.request(path, init);
}

/** The JSON of a response, taken for what the test says it is. */
export async function jsonOf<T>(response: Response): Promise<T> {
  return JSON.parse(await response.text());
}

async function noConversation(): Promise<never> {
  throw new HoldfastError('not_found', 'There is no such conversation.');
}
