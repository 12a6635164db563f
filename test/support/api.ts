import { expect } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type LogEvent, openSseReader, type SseReader } from './sse-reader.ts';

/** For `agents:` of a server that runs the agents of `test/protocol/task-agents.ts`. */
export const TASK_AGENTS: string[] = ['test/protocol/task-agents.ts'];

/** A response that has been read to its end. */
export interface Answer<Body> {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON of the text, taken for what the caller says it is; null when there is none. */
  body: Body;
}

export interface Page<Item> {
  items: Item[];
  nextPage: string | null;
}

interface EventPage {
  events: LogEvent[];
  cursor: string;
  caughtUp: boolean;
}

/** The body of an error. @see docs/protocol.md §2 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: { path: string; message: string }[];
  task?: Task;
  question?: Question;
  retryAfter?: number;
}

export type Headings = Record<string, string>;

/** What tests ask of a server, over HTTP alone. What is refused does not throw: the status is the test's to judge. */
export interface Api {
  readonly url: string;
  send<Body>(path: string, init?: RequestInit): Promise<Answer<Body>>;
  get<Body>(path: string, headers?: Headings): Promise<Answer<Body>>;
  /** Sends a value as JSON, text as it is, and no body for undefined. */
  post<Body>(path: string, body?: unknown, headers?: Headings): Promise<Answer<Body>>;

  createTask(body: object, headers?: Headings): Promise<Task>;
  task(id: string): Promise<Task>;
  /** The task once it is terminal or waiting. */
  settled(id: string): Promise<Task>;
  /** The task once it is terminal. */
  ended(id: string): Promise<Task>;
  /** Creates a task and gives it once it is terminal or waiting. */
  run(agent: string, input?: unknown, more?: object): Promise<Task>;
  cancel(id: string, body?: object): Promise<Answer<Task>>;
  /** The only pending question of a task. */
  pendingQuestion(taskId: string): Promise<Question>;
  question(id: string): Promise<Question>;
  answer(questionId: string, answer: unknown, headers?: Headings): Promise<Answer<Question>>;

  openStream(path: string): Promise<SseReader>;
  /** All events of the log so far, from a cursor on. */
  log(after?: string): Promise<LogEvent[]>;
  /** All that the log holds of a task once it has ended: also what stands behind its end, which its stream would not tell. */
  eventsOf(taskId: string): Promise<LogEvent[]>;
}

/** @param token sent with every request and stream, unless a request says otherwise; null sends none */
export function createApi(url: string, token: string | null = null): Api {
  const shown: Headings = token === null ? {} : { Authorization: `Bearer ${token}` };

  async function send<Body>(path: string, init: RequestInit = {}): Promise<Answer<Body>> {
    const headers = new Headers(init.headers);
    if (token !== null && !headers.has('Authorization')) headers.set('Authorization', `Bearer ${token}`);
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    const isJson = /^application\/(problem\+)?json$/.test(response.headers.get('Content-Type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    };
  }

  function post<Body>(path: string, body?: unknown, headers: Headings = {}): Promise<Answer<Body>> {
    if (body === undefined) return send(path, { method: 'POST', headers });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return send(path, { method: 'POST', body: text, headers: { 'Content-Type': 'application/json', ...headers } });
  }

  async function good<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
    const { status, text, body } = await answer;
    if (status >= 300) throw new Error(`Refused with ${status}: ${text}`);
    return body;
  }

  const get: Api['get'] = (path, headers = {}) => send(path, { headers });
  const task = (id: string) => good(get<Task>(`/v1/tasks/${id}`));

  async function log(after = '0'): Promise<LogEvent[]> {
    const path = `/v1/events?after=${after}&limit=1000`;
    const page = await good(get<EventPage>(path, { Accept: 'application/json' }));
    return page.caughtUp ? page.events : [...page.events, ...(await log(page.cursor))];
  }

  async function ended(id: string): Promise<Task> {
    const reader = await openSseReader(`${url}/v1/tasks/${id}/events`, shown);
    await reader.rest();
    return task(id);
  }

  async function eventsOf(taskId: string): Promise<LogEvent[]> {
    const { cursor } = await ended(taskId);
    return (await log(cursor.before)).filter((event) => event.taskId === taskId);
  }

  return {
    url,
    send,
    get,
    post,
    createTask: (body, headers) => good(post<Task>('/v1/tasks', body, headers)),
    task,
    settled: (id) => good(get<Task>(`/v1/tasks/${id}?wait=60`)),
    ended,
    run: (agent, input = null, more = {}) => good(post<Task>('/v1/tasks?wait=60', { agent, input, ...more })),
    cancel: (id, body) => post(`/v1/tasks/${id}/cancel`, body),
    async pendingQuestion(taskId) {
      const { items } = await good(get<Page<Question>>(`/v1/questions?status=pending&taskId=${taskId}`));
      const [question, another] = items;
      if (question === undefined || another !== undefined) throw new Error(`It has ${items.length} pending questions.`);
      return question;
    },
    question: (id) => good(get<Question>(`/v1/questions/${id}`)),
    answer: (questionId, answer, headers) => post(`/v1/questions/${questionId}/answers`, { answer }, headers),
    openStream: (path) => openSseReader(`${url}${path}`, shown),
    log,
    eventsOf,
  };
}

const PROBLEM_FIELDS = ['type', 'title', 'status', 'detail', 'code', 'errors', 'task', 'question', 'retryAfter'];
/** Stacks, paths, and the words of what is inside. */
const INTERNALS = /\bat \S+ \(|node_modules|file:\/\/|\/work\/|\.[jt]s:\d|SQLITE|Zod|\[object/;

/** Expects a refusal in the one form that all of them have, and gives its body. @see docs/protocol.md §2 */
export function expectProblem(answer: Answer<unknown>, status: number, code: string): Problem {
  const problem = answer.body as Problem;
  expect({ status: answer.status, code: problem?.code }, answer.text).toEqual({ status, code });
  expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
  expect(problem.status).toBe(status);
  expect(problem.type).toMatch(/^[a-z]+:\S+$/);
  expect(problem.title).toMatch(/\w/);
  expect(problem.detail).toMatch(/\w/);
  expect(Object.keys(problem).filter((field) => !PROBLEM_FIELDS.includes(field))).toEqual([]);
  expect(answer.text).not.toMatch(INTERNALS);
  return problem;
}

/** The seq in a cursor or an event's id. */
export function seqOf(cursor: string | null): number {
  return Number(cursor?.split('.')[1]);
}
