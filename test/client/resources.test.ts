import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgents } from '../../src/client/requests/agents.ts';
import { createConversations } from '../../src/client/requests/conversations.ts';
import { newIdempotencyKey } from '../../src/client/requests/idempotency-key.ts';
import { createQuestions } from '../../src/client/requests/questions.ts';
import { createRequests } from '../../src/client/requests/request.ts';
import { createTasks } from '../../src/client/requests/tasks.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { json, startScriptedServer } from './scripted-server.ts';

const never = new AbortController().signal;

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/conversation-agents.ts'] });
});
afterAll(() => server.stop());

function resourcesOf(url: string) {
  const requests = createRequests({ url }, never);
  const agents = createAgents(requests);
  const [tasks, questions] = [createTasks(requests), createQuestions(requests)];
  return { agents, tasks, questions, conversations: createConversations(requests) };
}

const input = { message: 'hello', conversationId: null };

test('agents are listed', async () => {
  const { items } = await resourcesOf(server.url).agents.list();

  expect(items.map(({ name }) => name)).toContain('parrot');
});

test('a task is created, waited for, listed and retried', async () => {
  const { tasks } = resourcesOf(server.url);
  const metadata = { of: 'tasks' };

  const { id } = await tasks.create({ agent: 'stumbler', input, metadata });
  const failed = await tasks.get(id, { wait: 30 });
  const retried = await tasks.retry(id);
  const { items, nextPage, cursor } = await tasks.list({
    status: ['failed', 'cancelled'],
    agent: 'stumbler',
    limit: 1,
  });

  expect(failed).toMatchObject({ id, status: 'failed', metadata });
  expect(retried).toMatchObject({ retryOf: id });
  expect(items[0]).toMatchObject({ agent: 'stumbler' });
  expect(nextPage === null || typeof nextPage === 'string').toBe(true);
  expect(cursor).toMatch(/^\w+\.\d+$/);
});

test('a task is cancelled, and the same key does it once', async () => {
  const { tasks } = resourcesOf(server.url);
  const idempotencyKey = newIdempotencyKey();
  const { id } = await tasks.create({ agent: 'endless', input }, { idempotencyKey });
  const again = await tasks.create({ agent: 'endless', input }, { idempotencyKey });

  expect(again.id).toBe(id);
  expect(await tasks.cancel(id, { reason: 'Enough.' })).toMatchObject({ status: 'cancelled' });
  expect(await tasks.cancel(id)).toMatchObject({ status: 'cancelled' });
});

test('questions are listed, answered, and declined', async () => {
  const { conversations, questions, tasks } = resourcesOf(server.url);
  const { id } = await conversations.create();
  const first = await conversations.send(id, { content: 'one', agent: 'hesitant' });
  await tasks.get(first.task.id, { wait: 30 });
  const { items } = await questions.list({ status: 'pending', conversationId: id, taskId: first.task.id });
  const [question] = items;
  if (question === undefined) throw new Error('Nothing was asked.');

  expect(await questions.get(question.id)).toEqual(question);
  expect(await questions.answer(question.id, { sure: 'yes' })).toMatchObject({ status: 'answered' });
  await expect(questions.decline(question.id, { reason: 'No.' })).rejects.toMatchObject({
    code: 'question_resolved',
    question: { status: 'answered', answers: { sure: 'yes' } },
  });
});

test('a conversation is created, renamed, written in, listed, read and deleted', async () => {
  const { conversations, tasks } = resourcesOf(server.url);
  const { id } = await conversations.create({ title: 'Lisbon' });
  const { message, task } = await conversations.send(id, { content: 'hi', agent: 'parrot', whenBusy: 'reject' });
  await tasks.get(task.id, { wait: 30 });

  expect(message).toMatchObject({ role: 'user', content: 'hi' });
  expect(await conversations.update(id, { title: null })).toMatchObject({ id, title: null });
  expect((await conversations.list({ limit: 1 })).items).toMatchObject([{ id }]);
  const newest = await conversations.messages(id, { order: 'desc', limit: 1 });
  expect(newest.items).toMatchObject([{ role: 'assistant', content: 'You said: hi' }]);
  const older = await conversations.messages(id, { order: 'desc', limit: 1, page: newest.nextPage ?? '' });
  expect(older).toMatchObject({ items: [{ id: message.id }], nextPage: null });
  expect(await conversations.get(id)).toMatchObject({ id, unfinishedTasks: [], resumeAfter: newest.cursor });
  expect(await conversations.delete(id)).toBeUndefined();
  await expect(conversations.get(id)).rejects.toMatchObject({ code: 'not_found' });
});

test('a refused input tells where', async () => {
  await expect(resourcesOf(server.url).tasks.create({ agent: 'nobody' })).rejects.toMatchObject({
    code: 'unknown_agent',
    status: 422,
  });
});

test('ids are encoded, and what is undefined is not sent', async () => {
  const scripted = await startScriptedServer(json(200, { items: [], nextPage: null }));
  const { tasks, questions, conversations } = resourcesOf(scripted.url);
  const nothing = { limit: undefined } as object;

  await tasks.get('a/b?c');
  await tasks.list();
  await tasks.list({ status: ['queued', 'unfinished'], ...nothing });
  await tasks.list({ status: ['queued'], agent: 'x' });
  await questions.list(nothing);
  await conversations.messages('ä', { page: '=&' });
  await tasks.cancel('x', { reason: undefined } as object);

  const urls = scripted.heard.map(({ url }) => url);
  expect(urls.slice(0, 3)).toEqual(['/v1/tasks/a%2Fb%3Fc', '/v1/tasks', '/v1/tasks?status=queued&status=unfinished']);
  expect(urls.slice(3, 6)).toEqual([
    '/v1/tasks?agent=x&status=queued',
    '/v1/questions',
    '/v1/conversations/%C3%A4/messages?page=%3D%26',
  ]);
  expect(scripted.heard.at(-1)).toMatchObject({ url: '/v1/tasks/x/cancel', body: '{}' });
});

test('every POST has a key of its own', async () => {
  const scripted = await startScriptedServer(json(200, {}));
  const { tasks, conversations } = resourcesOf(scripted.url);

  await tasks.create({ agent: 'x' });
  await conversations.create();
  await conversations.create({}, { idempotencyKey: 'mine' });

  const keys = scripted.heard.map(({ headers }) => headers['idempotency-key']);
  expect(keys.slice(0, 2)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe('mine');
});
