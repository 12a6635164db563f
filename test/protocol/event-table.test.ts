import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, type LogEvent } from '../support/sse-reader.ts';
import type { EventOp } from './event-agents.ts';

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/event-agents.ts'] });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** Creates a task that does these, one after the other. */
function play(...ops: EventOp[]): Promise<Task> {
  return api.createTask({ agent: 'teller', input: { ops } });
}

/** What the log holds of a task that did these, once it has ended. */
async function tell(...ops: EventOp[]): Promise<LogEvent[]> {
  return api.eventsOf((await play(...ops)).id);
}

/** Without the task's own first and last events. */
function between(events: readonly LogEvent[]): { type: string; data: unknown }[] {
  return events.slice(2, -1).map(({ type, data }) => ({ type, data }));
}

function typesOf(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type);
}

/** The questions of a task that asks, oldest first. */
async function asked({ id }: Task): Promise<Question[]> {
  while ((await api.settled(id)).status !== 'waiting');
  return (await api.get<Page<Question>>(`/v1/questions?taskId=${id}`)).body.items;
}

const MESSAGE_ID = expect.stringMatching(/^msg_[0-9a-hjkmnp-tv-z]{26}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function message(taskId: string | undefined, content: string, more: object = {}): object {
  const plain = { id: MESSAGE_ID, conversationId: null, taskId, role: 'assistant', content, status: 'complete' };
  return { ...plain, empty: content === '', metadata: {}, createdAt: TIME, ...more };
}

/** The messages that these events tell of, each id once, in the order in which they began. */
function messageIds(events: readonly LogEvent[]): string[] {
  const ids = events.flatMap(({ data }) => data.messageId ?? data.message?.id ?? []);
  return [...new Set<string>(ids)];
}

function textOf(events: readonly LogEvent[], messageId: string | undefined): string {
  const deltas = events.filter(({ type, data }) => type === 'message.delta' && data.messageId === messageId);
  return deltas.map(({ data }) => data.text).join('');
}

describe('§8 step.*', () => {
  test('a step that succeeds tells its start, and its end with how long it took', async () => {
    const events = await tell({ op: 'step', name: 'charge' }, { op: 'step', name: 'charge' });

    expect(between(events)).toEqual([
      { type: 'step.started', data: { name: 'charge', attempt: 1 } },
      { type: 'step.completed', data: { name: 'charge', attempt: 1, ms: expect.any(Number) } },
      { type: 'step.started', data: { name: 'charge#2', attempt: 1 } },
      { type: 'step.completed', data: { name: 'charge#2', attempt: 1, ms: expect.any(Number) } },
    ]);
  });

  test('a step that runs again says in how many milliseconds, and starts with the next attempt', async () => {
    const events = await tell({ op: 'step', name: 'charge', failures: 2, attempts: 3 });

    const failed = (attempt: number) => {
      const error = { code: 'agent_error', message: `charge failed in run ${attempt}` };
      return { type: 'step.failed', data: { name: 'charge', attempt, error, retryInMs: expect.any(Number) } };
    };
    expect(between(events)).toEqual([
      { type: 'step.started', data: { name: 'charge', attempt: 1 } },
      failed(1),
      { type: 'step.started', data: { name: 'charge', attempt: 2 } },
      failed(2),
      { type: 'step.started', data: { name: 'charge', attempt: 3 } },
      { type: 'step.completed', data: { name: 'charge', attempt: 3, ms: expect.any(Number) } },
    ]);
    for (const { data } of events.filter(({ type }) => type === 'step.failed')) {
      expect(data.retryInMs).toBeGreaterThanOrEqual(0);
      expect(data.retryInMs).toBeLessThanOrEqual(20 * data.attempt);
    }
  });

  test('a step that fails for the last time says that it does not run again', async () => {
    const events = await tell({ op: 'step', name: 'charge', failures: 2, attempts: 2 });

    const error = { code: 'agent_error', message: 'charge failed in run 2' };
    expect(between(events).at(-1)).toEqual({
      type: 'step.failed',
      data: { name: 'charge', attempt: 2, error, retryInMs: null },
    });
    expect(events.at(-1)?.data.output).toEqual({ failures: ['charge failed in run 2'] });
  });

  test('what a run that failed had said is discarded before its failure, and the next run has a message of its own', async () => {
    const says = { pieces: ['Charging', ' now'] };
    const events = await tell({ op: 'step', name: 'charge', says, failures: 1, attempts: 2 });

    const [first, second, third] = messageIds(events);
    expect(third).toBeUndefined();
    expect(typesOf(between(events)).filter((type) => type !== 'message.delta')).toEqual([
      ...['step.started', 'message.started', 'message.discarded', 'step.failed'],
      ...['step.started', 'message.started', 'message.completed', 'step.completed'],
    ]);
    const discarded = events.find(({ type }) => type === 'message.discarded');
    expect(discarded?.data).toEqual({ messageId: first, reason: expect.stringMatching(/^[a-z_]+$/) });
    expect(textOf(events, first)).toBe('Charging now');
    expect(events.find(({ type }) => type === 'message.completed')?.data).toEqual({
      message: message(events[0]?.taskId, 'Charging now', { id: second }),
    });
  });

  test('what a run sends carries the step and the attempt beside its data, and what the task sends does not', async () => {
    const says = { pieces: ['Charging'] };
    const events = await tell({ op: 'step', name: 'charge', says, failures: 1, attempts: 2 });

    const secondRun = events.findIndex(({ type, data }) => type === 'step.started' && data.attempt === 2);
    const ofMessages = events.filter(({ type }) => type.startsWith('message.'));
    expect(ofMessages.map(({ step }) => step)).toEqual(
      ofMessages.map((event) => ({ name: 'charge', attempt: events.indexOf(event) < secondRun ? 1 : 2 })),
    );
    for (const event of events.filter(({ type }) => /^(task|step)\./.test(type)))
      expect(event).not.toHaveProperty('step');
  });
});

describe('§8 tool.*', () => {
  const tool = { toolCallId: 'call_1', name: 'search', input: { query: 'Lisbon', limit: 3 } };

  test('a call that succeeds tells its input, and its output before the end of its step', async () => {
    const events = await tell({ op: 'step', name: 'search', tool, output: { hits: ['Alfama', null] } });

    expect(between(events)).toEqual([
      { type: 'step.started', data: { name: 'search', attempt: 1 } },
      { type: 'tool.called', data: tool },
      { type: 'tool.returned', data: { toolCallId: 'call_1', output: { hits: ['Alfama', null] } } },
      { type: 'step.completed', data: { name: 'search', attempt: 1, ms: expect.any(Number) } },
    ]);
  });

  test('a call that returns nothing has null for its output', async () => {
    const events = await tell({ op: 'step', name: 'search', tool });

    expect(events.find(({ type }) => type === 'tool.returned')?.data).toEqual({ toolCallId: 'call_1', output: null });
  });

  test('a call that fails returns the error, and never an output', async () => {
    const events = await tell({ op: 'step', name: 'search', tool, failures: 1 });

    const error = { code: 'agent_error', message: 'search failed in run 1' };
    expect(between(events)).toEqual([
      { type: 'step.started', data: { name: 'search', attempt: 1 } },
      { type: 'tool.called', data: tool },
      { type: 'tool.returned', data: { toolCallId: 'call_1', error } },
      { type: 'step.failed', data: { name: 'search', attempt: 1, error, retryInMs: null } },
    ]);
  });
});

describe('§8 message.*', () => {
  test('a message tells its start, its text piece by piece, and in the end all of it', async () => {
    const events = await tell({ op: 'say', name: 'greeting', pieces: ['Hello', ' there', '!'] });

    const [messageId] = messageIds(events);
    const told = between(events);
    const deltas = told.slice(2, -2);
    expect(typesOf(told)).toEqual([
      ...['step.started', 'message.started'],
      ...deltas.map(() => 'message.delta'),
      ...['message.completed', 'step.completed'],
    ]);
    expect(told[1]?.data).toEqual({ messageId, role: 'assistant' });
    expect(deltas.map(({ data }) => data)).toEqual(deltas.map(() => ({ messageId, text: expect.stringMatching(/./) })));
    expect(textOf(events, messageId)).toBe('Hello there!');
    expect(told.at(-2)?.data).toEqual({ message: message(events[0]?.taskId, 'Hello there!', { id: messageId }) });
  });

  test.each<[string, string[]]>([
    ['nothing at all', []],
    ['nothing but empty pieces', ['', '']],
  ])('[T8] a model that yields %s leaves a message that is shown as empty, without a delta', async (_, pieces) => {
    const events = await tell({ op: 'say', name: 'answer', pieces });

    const [messageId] = messageIds(events);
    expect(between(events).slice(1, -1)).toEqual([
      { type: 'message.started', data: { messageId, role: 'assistant' } },
      { type: 'message.completed', data: { message: message(events[0]?.taskId, '', { id: messageId, empty: true }) } },
    ]);
  });

  test('[T1] the text of a message whose source breaks off for good is kept as partial, before the failure', async () => {
    const events = await tell({
      op: 'say',
      name: 'answer',
      pieces: ['The answer', ' is'],
      throws: 'the model hung up',
    });

    const [messageId] = messageIds(events);
    const [completed, failed] = between(events).slice(-2);
    const partial = message(events[0]?.taskId, 'The answer is', { id: messageId, status: 'partial' });
    const error = { code: 'agent_error', message: 'the model hung up' };
    expect(completed).toEqual({ type: 'message.completed', data: { message: partial } });
    expect(failed).toEqual({ type: 'step.failed', data: { name: 'answer', attempt: 1, error, retryInMs: null } });
    expect(typesOf(events)).not.toContain('message.discarded');
    expect('The answer is'.startsWith(textOf(events, messageId))).toBe(true);
  });

  test('[T8] a source that breaks off before its first word leaves a partial message that is empty', async () => {
    const events = await tell({ op: 'say', name: 'answer', pieces: [], throws: 'the model hung up' });

    const completed = events.find(({ type }) => type === 'message.completed');
    expect(completed?.data).toEqual({ message: message(events[0]?.taskId, '', { status: 'partial', empty: true }) });
  });

  test('[T1] only the last run of a step leaves a partial message, those before it are discarded', async () => {
    const says = { pieces: ['The answer'], throws: 'the model hung up' };
    const events = await tell({ op: 'step', name: 'think', says, attempts: 2 });

    const [first, second] = messageIds(events);
    const ends = between(events).filter(({ type }) => /^message\.(discarded|completed)$/.test(type));
    expect(ends).toEqual([
      { type: 'message.discarded', data: { messageId: first, reason: expect.any(String) } },
      {
        type: 'message.completed',
        data: { message: message(events[0]?.taskId, 'The answer', { id: second, status: 'partial' }) },
      },
    ]);
  });
});

describe('§8 task.progress', () => {
  test('[T10] tells the fraction and the note, null where there is none', async () => {
    const events = await tell(
      { op: 'progress', fraction: 0.25, note: 'looking' },
      { op: 'progress', fraction: 1 },
      { op: 'progress', fraction: null, note: 'still looking' },
    );

    expect(between(events)).toEqual([
      { type: 'task.progress', data: { fraction: 0.25, note: 'looking' } },
      { type: 'task.progress', data: { fraction: 1, note: null } },
      { type: 'task.progress', data: { fraction: null, note: 'still looking' } },
    ]);
  });
});

describe("§8 an agent's own events", () => {
  test('have the data that the agent gave, whatever JSON it is, and {} where it gave none', async () => {
    const events = await tell(
      { op: 'emit', type: 'note.taken', data: { deep: [1, null, { text: 'ü' }] } },
      { op: 'emit', type: 'note.taken', data: null },
      { op: 'emit', type: 'my-app.note_2.taken', data: 'text' },
      { op: 'emit', type: 'note.taken' },
    );

    expect(between(events)).toEqual([
      { type: 'note.taken', data: { deep: [1, null, { text: 'ü' }] } },
      { type: 'note.taken', data: null },
      { type: 'my-app.note_2.taken', data: 'text' },
      { type: 'note.taken', data: {} },
    ]);
  });
});

describe('§8 task.* and question.*', () => {
  test('a task tells what it was asked for, that it runs, and its output', async () => {
    const input = { ops: [] };
    const events = await tell();

    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'task.created', data: { agent: 'teller', input, parentId: null, retryOf: null } },
      { type: 'task.started', data: { attempt: 1 } },
      { type: 'task.completed', data: { output: { failures: [] } } },
    ]);
  });

  test('a task that fails tells its error, one that is cancelled the reason', async () => {
    const failed = await tell({ op: 'fail', message: 'no more' });
    const { id } = await play({ op: 'ask', names: ['go'] });
    await api.cancel(id, { reason: 'enough' });
    const cancelled = await api.eventsOf(id);

    expect(failed.at(-1)).toMatchObject({ type: 'task.failed' });
    expect(failed.at(-1)?.data).toEqual({ error: { code: 'agent_error', message: 'no more' } });
    expect(cancelled.at(-1)).toMatchObject({ type: 'task.cancelled' });
    expect(cancelled.at(-1)?.data).toEqual({ reason: 'enough' });
  });

  test('a wait for people tells of which questions, and each resolution what came of one', async () => {
    const task = await play({ op: 'ask', names: ['one', 'two'] });
    const [one, two] = await asked(task);
    await api.answer(one?.id ?? '', 'yes');
    await api.post(`/v1/questions/${two?.id}/decline`, { reason: 'not now' });

    const events = await api.eventsOf(task.id);

    const dataOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(dataOf('question.asked')).toEqual([{ question: one }, { question: two }]);
    expect(dataOf('task.waiting')[0]).toEqual({
      questionIds: [one?.id, two?.id],
      until: TIME,
      for: ['people'],
    });
    expect(dataOf('question.answered')).toEqual([{ questionId: one?.id, answers: { a: 'yes' }, resolvedBy: 'local' }]);
    expect(dataOf('question.declined')).toEqual([{ questionId: two?.id, reason: 'not now', resolvedBy: 'local' }]);
    expect(new Set(dataOf('task.resumed').map((data) => JSON.stringify(data)))).toEqual(new Set(['{}']));
  });

  test('a question that expires, and one that is cancelled, was resolved by nobody', async () => {
    const expiring = await play({ op: 'ask', names: ['soon'], timeoutMs: 1 });
    const expired = (await api.eventsOf(expiring.id)).find(({ type }) => type === 'question.expired');
    const cancelling = await play({ op: 'ask', names: ['late'] });
    const [question] = await asked(cancelling);
    await api.cancel(cancelling.id);
    const cancelled = (await api.eventsOf(cancelling.id)).find(({ type }) => type === 'question.cancelled');

    expect(expired?.data).toEqual({ questionId: expect.stringMatching(/^qst_/), resolvedBy: null });
    expect(cancelled?.data).toEqual({ questionId: question?.id, reason: 'cancelled', resolvedBy: null });
  });

  test('a wait for a timer tells of no question, and until when', async () => {
    const events = await tell({ op: 'sleep', name: 'nap', ms: 20 });

    expect(between(events)).toEqual([
      { type: 'task.waiting', data: { questionIds: [], until: TIME, for: ['timer'] } },
      { type: 'task.resumed', data: {} },
    ]);
  });
});

/** The keys that an event's data may have, in any order: one list, or more where the table has an `or`. */
const KEYS: { [type: string]: string[] } = {
  'task.created': ['agent input parentId retryOf'],
  'task.started': ['attempt'],
  'task.waiting': ['for questionIds until'],
  'task.resumed': [''],
  'task.progress': ['fraction note'],
  'task.completed': ['output'],
  'task.failed': ['error'],
  'task.cancelled': ['reason'],
  'question.asked': ['question'],
  'question.answered': ['answers questionId resolvedBy'],
  'question.declined': ['questionId reason resolvedBy'],
  'question.expired': ['questionId resolvedBy'],
  'question.cancelled': ['questionId reason resolvedBy'],
  'message.started': ['messageId role'],
  'message.delta': ['messageId text'],
  'message.completed': ['message'],
  'message.discarded': ['messageId reason'],
  'step.started': ['attempt name'],
  'step.completed': ['attempt ms name'],
  'step.failed': ['attempt error name retryInMs'],
  'tool.called': ['input name toolCallId'],
  'tool.returned': ['output toolCallId', 'error toolCallId'],
};

test('§8 every event of the server has the data of its row in the table and no more', async () => {
  const tool = { toolCallId: 'c', name: 't', input: null };
  await tell(
    { op: 'step', name: 'good', tool, says: { pieces: ['x'] }, failures: 1, attempts: 2 },
    { op: 'step', name: 'bad', tool, failures: 1 },
    { op: 'say', name: 'cut', pieces: ['x'], throws: 'cut' },
    { op: 'progress', fraction: null },
    { op: 'sleep', name: 'nap', ms: 1 },
    { op: 'ask', names: ['soon'], timeoutMs: 1 },
    { op: 'fail', message: 'done' },
  );
  const resolving = await play({ op: 'ask', names: ['one', 'two'] }, { op: 'ask', names: ['three'] });
  const [one, two] = await asked(resolving);
  await api.answer(one?.id ?? '', 'x');
  await api.post(`/v1/questions/${two?.id}/decline`);
  const reader = await api.openStream(`/v1/tasks/${resolving.id}/events`);
  await reader.until((block) => isType('question.asked')(block) && (block.data?.includes('"three"') ?? false));
  reader.close();
  await api.cancel(resolving.id);
  await tell();

  const log = (await api.log()).filter(({ type }) => /^(task|question|message|step|tool|conversation)\./.test(type));

  for (const { type, data } of log) expect(KEYS[type], type).toContain(Object.keys(data).sort().join(' '));
  expect(new Set(typesOf(log))).toEqual(new Set(Object.keys(KEYS)));
});
