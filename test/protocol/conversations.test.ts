import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Answer, type Api, createApi, type Page } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, logEvents, openSseReader } from '../support/sse-reader.ts';

type OpenConversation = Conversation & { unfinishedTasks: Task[]; pendingQuestions: Question[]; resumeAfter: string };
type Posted = { message: Message; task: Task };

let server: ServerProcess;
let api: Api;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/conversation-agents.ts'] });
  api = createApi(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

async function open(body: object = {}): Promise<string> {
  const created = await api.post<Conversation>('/v1/conversations', body);
  expect(created.status).toBe(201);
  return created.body.id;
}

function write(id: string, body: object, headers = {}): Promise<Answer<Posted>> {
  return api.post<Posted>(`/v1/conversations/${id}/messages`, body, headers);
}

async function wrote(id: string, body: object): Promise<Posted> {
  const { status, text, body: posted } = await write(id, body);
  if (status !== 202) throw new Error(`${status} ${text}`);
  return posted;
}

async function messages(id: string): Promise<Message[]> {
  return (await api.get<Page<Message>>(`/v1/conversations/${id}/messages?limit=200`)).body.items;
}

const said = (all: readonly Message[]) => all.map(({ role, content, status }) => [role, content, status]);

describe('§7 a conversation', () => {
  test('is made, shown, listed by activity, changed, and every device learns of it', async () => {
    const everything = await openSseReader(`${server.url}/v1/events?after=latest`);
    const first = await open({ title: 'Lisbon', metadata: { from: 'web' } });
    const second = await open();

    const shown = await api.get<OpenConversation>(`/v1/conversations/${first}`);
    const changed = await api.send<Conversation>(`/v1/conversations/${first}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"title": "Porto"}',
    });
    const listed = await api.get<Page<Conversation>>('/v1/conversations?limit=2');
    await everything.until(isType('conversation.updated'));
    everything.close();

    expect(shown.body).toEqual({
      id: first,
      title: 'Lisbon',
      metadata: { from: 'web' },
      createdAt: expect.any(String),
      lastActivityAt: expect.any(String),
      unfinishedTasks: [],
      pendingQuestions: [],
      resumeAfter: shown.headers.get('Holdfast-Cursor'),
    });
    expect(changed.body).toMatchObject({ id: first, title: 'Porto', metadata: { from: 'web' } });
    expect(listed.body.items.map(({ id }) => id)).toEqual([first, second]);
    const told = logEvents(everything.blocks).map(({ type, taskId, conversationId }) => [type, taskId, conversationId]);
    expect(told).toEqual([
      ['conversation.created', null, first],
      ['conversation.created', null, second],
      ['conversation.updated', null, first],
    ]);
  });

  test('keeps what was written and what was answered, a turn after the other', async () => {
    const id = await open();
    const { message, task } = await wrote(id, { content: 'Hello', agent: 'parrot', metadata: { n: 1 } });
    await api.ended(task.id);
    const next = await wrote(id, { content: 'Again' });
    await api.ended(next.task.id);

    expect(message).toMatchObject({
      conversationId: id,
      taskId: task.id,
      role: 'user',
      metadata: { n: 1 },
      empty: false,
    });
    expect(task).toMatchObject({
      agent: 'parrot',
      conversationId: id,
      input: { message: 'Hello', conversationId: id },
    });
    expect(next.task.agent).toBe('parrot');
    expect(said(await messages(id))).toEqual([
      ['user', 'Hello', 'complete'],
      ['assistant', 'You said: Hello', 'complete'],
      ['user', 'Again', 'complete'],
      ['assistant', 'You said: Again', 'complete'],
    ]);
    const [first, second] = await api.eventsOf(task.id);
    expect([first?.type, second?.type]).toEqual(['message.completed', 'task.created']);
    const last = await api.get<Page<Message>>(`/v1/conversations/${id}/messages?order=desc&limit=1`);
    expect(last.body.items[0]?.content).toBe('You said: Again');
  });

  test('has a message of every turn, also of one that says nothing or breaks off', async () => {
    const id = await open();
    for (const agent of ['silent', 'stumbler']) await api.ended((await wrote(id, { content: agent, agent })).task.id);

    const all = await messages(id);
    expect(said(all)).toEqual([
      ['user', 'silent', 'complete'],
      ['assistant', '', 'complete'],
      ['user', 'stumbler', 'complete'],
      ['assistant', 'So far', 'partial'],
    ]);
    expect(all.map(({ empty }) => empty)).toEqual([false, true, false, false]);
  });

  test('tells an agent of the turns before its own, with their tools', async () => {
    const id = await open();
    const first = await wrote(id, { content: 'a', agent: 'historian' });
    await api.ended(first.task.id);
    const second = await wrote(id, { content: 'b' });
    const { output } = await api.ended(second.task.id);

    expect(output).toEqual({
      history: [
        {
          taskId: first.task.id,
          status: 'completed',
          entries: [
            { kind: 'message', role: 'user', content: 'a', status: 'complete' },
            {
              ...{ kind: 'tool', toolCallId: 'call-a', name: 'look', input: { for: 'a' } },
              outcome: { status: 'returned', output: { found: 'a' } },
            },
            { kind: 'message', role: 'assistant', content: 'Found a.', status: 'complete' },
          ],
        },
      ],
    });
  });

  test('does not tell a turn that is tried again of itself', async () => {
    const id = await open();
    const first = await wrote(id, { content: 'a', agent: 'witness' });
    const failed = await api.ended(first.task.id);
    const again = await api.post<Task>(`/v1/tasks/${failed.id}/retry`);
    const retried = await api.ended(again.body.id);

    expect(again.body).toMatchObject({ conversationId: id, retryOf: failed.id });
    expect([failed.error?.message, retried.error?.message]).toEqual(['nothing', 'nothing']);
  });

  test('that is unknown takes no task, whatever else is wrong with it', async () => {
    const conversationId = `conv_${'0'.repeat(26)}`;

    expect((await api.post('/v1/tasks', { agent: 'nobody', conversationId })).status).toBe(404);
  });

  test('has tasks that are no turns of it: they are in its stream, and what they say is not stored', async () => {
    const id = await open();
    const task = await api.createTask({ agent: 'parrot', input: { message: 'beside' }, conversationId: id });
    await api.ended(task.id);

    expect(task.conversationId).toBe(id);
    expect(await messages(id)).toEqual([]);
    const page = await api.get<{ events: { type: string }[] }>(`/v1/conversations/${id}/events?after=0`, {
      Accept: 'application/json',
    });
    expect(page.body.events.map(({ type }) => type)).toContain('message.completed');
    const listed = await api.get<Page<Task>>(`/v1/tasks?conversationId=${id}`);
    expect(listed.body.items.map((each) => each.id)).toEqual([task.id]);
  });
});

describe('§7 whenBusy', () => {
  test('interrupt cancels the unfinished turn with its question, keeps what it said, and answers anew', async () => {
    const id = await open();
    const first = await wrote(id, { content: 'one', agent: 'hesitant' });
    await api.settled(first.task.id);
    const question = await api.pendingQuestion(first.task.id);

    const second = await wrote(id, { content: 'two', agent: 'parrot' });
    await api.ended(second.task.id);

    expect(await api.question(question.id)).toMatchObject({ status: 'cancelled', reason: 'interrupted' });
    expect((await api.task(first.task.id)).status).toBe('cancelled');
    expect(said(await messages(id))).toEqual([
      ['user', 'one', 'complete'],
      ['assistant', 'About one.', 'complete'],
      ['user', 'two', 'complete'],
      ['assistant', 'You said: two', 'complete'],
    ]);
  });

  test('interrupt in the middle of a sentence keeps it as far as it came', async () => {
    const id = await open();
    const stream = await openSseReader(`${server.url}/v1/conversations/${id}/events?after=latest`);
    const first = await wrote(id, { content: 'word', agent: 'endless' });
    await stream.until(isType('message.delta'));
    stream.close();

    const second = await wrote(id, { content: 'two', agent: 'parrot' });
    await api.ended(second.task.id);

    const all = await messages(id);
    expect(all[1]).toMatchObject({
      taskId: first.task.id,
      status: 'partial',
      content: expect.stringMatching(/^(word )+$/),
    });
    expect(all[3]).toMatchObject({ content: 'You said: two' });
  });

  test('enqueue lets turns run in the order of their answers, one at a time', async () => {
    const id = await open();
    const posted = [];
    for (const content of ['2', '2', '2'])
      posted.push(await wrote(id, { content, agent: 'listener', whenBusy: 'enqueue' }));
    const ends = await Promise.all(posted.map(({ task }) => api.ended(task.id)));

    expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    for (const [index, { startedAt }] of ends.entries()) {
      const before = ends[index - 1];
      if (before !== undefined)
        expect(Date.parse(startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(before.finishedAt ?? ''));
    }
  });

  test('reject refuses, and shows the turn that is unfinished', async () => {
    const id = await open();
    const first = await wrote(id, { content: 'one', agent: 'hesitant' });

    const refused = await write(id, { content: 'two', whenBusy: 'reject' });

    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'conversation_busy', task: { id: first.task.id } });
    await api.cancel(first.task.id);
  });

  test('steer reaches the running turn at its next step, once', async () => {
    const id = await open();
    const first = await wrote(id, { content: '4', agent: 'listener' });
    const steered = await wrote(id, { content: 'more', whenBusy: 'steer' });
    const { output } = await api.ended(first.task.id);

    expect(steered.task.id).toBe(first.task.id);
    expect(output).toEqual(['more']);
    expect(said(await messages(id))).toEqual([
      ['user', '4', 'complete'],
      ['user', 'more', 'complete'],
      ['assistant', 'more', 'complete'],
    ]);
  });

  test('steer begins a turn of its own when the one that it was sent to ends without it', async () => {
    const id = await open();
    const first = await wrote(id, { content: 'one', agent: 'hesitant' });
    await api.settled(first.task.id);
    const question = await api.pendingQuestion(first.task.id);
    const steered = await wrote(id, { content: 'late', whenBusy: 'steer' });
    await api.answer(question.id, 'yes');
    await api.ended(first.task.id);

    const { body } = await api.get<Page<Task>>(`/v1/tasks?conversationId=${id}&order=asc`);
    const [, second] = body.items;
    expect(steered.task.id).toBe(first.task.id);
    expect(second).toMatchObject({ agent: 'hesitant', input: { message: 'late', conversationId: id } });
    const [asked] = (await messages(id)).filter((message) => message.id === steered.message.id);
    expect(asked?.taskId).toBe(second?.id);
    await api.cancel(second?.id ?? '');
  });
});

describe('§7 deletion', () => {
  test('takes everything along at once, and its stream ends with it', async () => {
    const id = await open();
    const { task } = await wrote(id, { content: 'one', agent: 'hesitant' });
    await api.settled(task.id);
    const question = await api.pendingQuestion(task.id);
    const stream = await openSseReader(`${server.url}/v1/conversations/${id}/events`);
    await stream.until(isType('question.asked'));
    const ofTask = await openSseReader(`${server.url}/v1/tasks/${task.id}/events`);
    await ofTask.until(isType('question.asked'));
    const everything = await openSseReader(`${server.url}/v1/events?after=latest`);
    await everything.until(isNamed('caught-up'));
    const cursor = everything.blocks.at(-1)?.id ?? '';

    const gone = await api.send(`/v1/conversations/${id}`, { method: 'DELETE' });
    const rest = await stream.rest();

    expect(gone.status).toBe(204);
    expect(rest.at(-1)).toMatchObject({ event: 'end' });
    expect(logEvents(rest).at(-1)).toMatchObject({ type: 'conversation.deleted', data: { conversationId: id } });
    expect((await ofTask.rest()).at(-1)).toMatchObject({ event: 'end' });
    await everything.until(isType('conversation.deleted'));
    everything.close();
    expect(logEvents(everything.blocks).map(({ type }) => type)).toEqual(['conversation.deleted']);
    const late = await openSseReader(`${server.url}/v1/events?after=${cursor}`);
    await late.until(isType('conversation.deleted'));
    late.close();
    expect(logEvents(late.blocks).map(({ type }) => type)).toEqual(['conversation.deleted']);
    for (const path of [`conversations/${id}`, `conversations/${id}/messages`, `conversations/${id}/events`])
      expect((await api.get(`/v1/${path}`)).status, path).toBe(404);
    expect((await api.get(`/v1/tasks/${task.id}`)).status).toBe(404);
    expect((await api.get(`/v1/questions/${question.id}`)).status).toBe(404);
    const told = (await api.log()).filter(({ conversationId }) => conversationId === id);
    expect(told.map(({ type }) => type)).toEqual(['conversation.deleted']);
  });

  test('takes along what requests with a key would be answered with again', async () => {
    const key = { 'Idempotency-Key': 'to-be-forgotten' };
    const made = await api.post<Conversation>('/v1/conversations', { title: 'Secret' }, key);
    await api.send(`/v1/conversations/${made.body.id}`, { method: 'DELETE' });

    await expect
      .poll(async () => (await api.post<Conversation>('/v1/conversations', { title: 'Secret' }, key)).body.id)
      .not.toBe(made.body.id);
  });
});
