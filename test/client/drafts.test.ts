import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { createConversationStore, type DraftStorage } from '../../src/client/conversation/conversation-store.ts';
import { createClient } from '../../src/client/create-client.ts';
import { type FlakyProxy, openFlakyProxy } from '../support/flaky-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { createTabStorage, openPage, shown } from './shown.ts';

let server: ServerProcess;
let proxy: FlakyProxy;
const clients: Client[] = [];
beforeAll(async () => {
  server = await startServerProcess({
    agents: ['test/protocol/conversation-agents.ts', 'test/client/program-agents.ts'],
  });
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await openFlakyProxy(server.url, new Map());
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await proxy.close();
});

/** A client that keeps the keys of the answers which it sends. */
function open(keys: string[] = []): Client {
  const listening: typeof fetch = (url, init) => {
    const key = new Headers(init?.headers).get('Idempotency-Key');
    if (String(url).endsWith('/answers') && key !== null) keys.push(key);
    return fetch(url, init);
  };
  const client = createClient({ url: proxy.url, fetch: listening });
  clients.push(client);
  return client;
}

/** A conversation with a question in it. */
async function ask(content = 'Lisbon', agent = 'hesitant') {
  const client = open();
  const { id } = await client.conversations.create();
  const { task } = await client.conversations.send(id, { content, agent });
  const { pendingQuestionCount } = await client.tasks.get(task.id, { wait: 30 });
  expect(pendingQuestionCount).toBe(1);
  const { items } = await client.questions.list({ conversationId: id });
  const [question] = items;
  if (question === undefined) throw new Error('Nothing was asked.');
  return { id, question, task };
}

/** What a tab of its own shows, once it has read. */
async function openTab(id: string, storage?: DraftStorage | null, client = open()) {
  const store = createConversationStore(client, id, storage === undefined ? {} : { storage });
  const { views } = openPage(store);
  await shown(store, ({ status }) => status === 'ready');
  return { store, client, views };
}

test('a draft is there after a reload, and goes when the question is answered', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const { store } = await openTab(id, storage);

  store.setDraft(question.id, { sure: 'ye' });
  expect(store.getSnapshot().drafts).toEqual({
    [question.id]: { values: { sure: 'ye' }, status: 'editing', error: null },
  });
  const { store: reloaded } = await openTab(id, storage);
  expect(reloaded.getSnapshot().drafts).toEqual(store.getSnapshot().drafts);
  await reloaded.answer(question.id, { sure: 'yes' });

  expect(reloaded.getSnapshot()).toMatchObject({ questions: [], drafts: {} });
  expect(reloaded.getSnapshot().entries).toMatchObject([
    {},
    {},
    { question: { status: 'answered', answers: { sure: 'yes' }, resolvedBy: 'local' } },
  ]);
  await shown(store, ({ drafts, questions }) => questions.length === 0 && Object.keys(drafts).length === 0);
  expect([...storage.items.values()].join()).not.toContain('ye');
});

test('an answer that is on its way when the page is lost is sent by the next one, with the same key', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const keys: string[] = [];
  const { store, client } = await openTab(id, storage, open(keys));
  store.setDraft(question.id, { sure: 'typed' });
  proxy.mode = 'lose-answers';

  const answering = store.answer(question.id, { sure: 'yes' });
  expect(store.getSnapshot().drafts).toMatchObject({
    [question.id]: { status: 'submitting', values: { sure: 'typed' } },
  });
  expect(storage.getItem(`holdfast draft ${question.id}`)).toContain('"idempotencyKey"');
  await expect.poll(() => keys.length).toBeGreaterThan(0);
  client.close();
  await answering;
  proxy.mode = 'drop';
  const later = createConversationStore(open(keys), id, { storage });
  openPage(later);
  proxy.mode = 'pass';

  const view = await shown(later, ({ status, questions }) => status === 'ready' && questions.length === 0);
  expect(view.drafts).toEqual({});
  expect(new Set(keys).size).toBe(1);
});

test('an answer that never reached the server is sent by whoever opens the conversation next', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const keys: string[] = [];
  const { store, client } = await openTab(id, storage, open(keys));
  proxy.mode = 'drop';
  const answering = store.answer(question.id, { sure: 'yes' });
  await expect.poll(() => keys.length).toBeGreaterThan(0);
  client.close();
  await answering;
  proxy.mode = 'pass';

  const later = open(keys);
  const { views } = await openTab(id, storage, later);

  await expect.poll(async () => (await later.questions.get(question.id)).answers).toEqual({ sure: 'yes' });
  expect(views.some(({ drafts }) => drafts[question.id]?.status === 'submitting')).toBe(true);
  expect(new Set(keys).size).toBe(1);
});

test('an answer that the server finds wrong can be put right', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const { store } = await openTab(id, storage);

  await store.answer(question.id, { sure: 7 });

  const { drafts, questions } = store.getSnapshot();
  expect(drafts[question.id]).toMatchObject({ status: 'refused', values: { sure: 7 } });
  expect(drafts[question.id]?.error).toMatchObject({ code: 'invalid_answer', errors: [{ path: '/answers/sure' }] });
  expect(questions).toHaveLength(1);
  const { store: reloaded } = await openTab(id, storage);
  expect(reloaded.getSnapshot().drafts).toEqual(drafts);
  reloaded.setDraft(question.id, { sure: 'yes' });
  expect(reloaded.getSnapshot().drafts[question.id]).toMatchObject({ status: 'editing', error: null });
  await reloaded.answer(question.id, { sure: 'yes' });
  expect(reloaded.getSnapshot()).toMatchObject({ questions: [], drafts: {} });
});

test('who comes second sees how the first one has resolved it', async () => {
  const { id, question } = await ask();
  const { store, client } = await openTab(id, createTabStorage());
  store.setDraft(question.id, { sure: 'no' });
  proxy.mode = 'silent';
  proxy.forget();
  await createClient({ url: server.url }).questions.answer(question.id, { sure: 'first' });
  proxy.mode = 'pass';

  await store.answer(question.id, { sure: 'second' });

  const view = store.getSnapshot();
  expect(view).toMatchObject({ questions: [], drafts: {} });
  expect(view.entries).toContainEqual(
    expect.objectContaining({ question: expect.objectContaining({ answers: { sure: 'first' } }) }),
  );
  expect(client.connection.getSnapshot().status).not.toBe('refused');
});

test('a question is declined, also after somebody else has resolved it', async () => {
  const { id, question } = await ask();
  const { store } = await openTab(id, null);
  await store.decline(question.id, 'Later.');
  const { entries, questions } = store.getSnapshot();

  await store.decline(question.id, 'Never.');

  const declined = { status: 'declined', reason: 'Later.' };
  expect(questions).toEqual([]);
  expect(entries[2]).toMatchObject({ question: declined });
  await expect(store.decline('qst_00000000000000000000000000')).rejects.toMatchObject({ code: 'not_found' });
});

test('drafts of questions that were resolved while no page was open are cleaned away', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const { store, client } = await openTab(id, storage);
  store.setDraft(question.id, { sure: 'no' });
  client.close();
  await open().questions.answer(question.id, { sure: 'yes' });

  await openTab(id, storage);

  expect(storage.getItem(`holdfast draft ${question.id}`)).toBeNull();
  expect(storage.getItem(`holdfast drafts ${id}`)).toBe('[]');
});

test('what another tab is sending survives what is typed here', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const { store: here } = await openTab(id, storage);
  const { store: there, client } = await openTab(id, storage);
  proxy.mode = 'drop';
  const answering = there.answer(question.id, { sure: 'yes' });

  here.setDraft(question.id, { sure: 'no' });
  client.close();
  await answering;

  expect(here.getSnapshot().drafts[question.id]).toMatchObject({ status: 'editing', values: { sure: 'no' } });
  expect(storage.getItem(`holdfast draft ${question.id}`)).toContain('"submitting"');
  proxy.mode = 'pass';
  const later = open();
  await openTab(id, storage, later);
  await expect.poll(async () => (await later.questions.get(question.id)).answers).toEqual({ sure: 'yes' });
});

test('two tabs that send the same answer do no harm', async () => {
  const { id, question } = await ask();
  const storage = createTabStorage();
  const keys: string[] = [];
  const { store, client } = await openTab(id, storage, open(keys));
  proxy.mode = 'drop';
  const answering = store.answer(question.id, { sure: 'yes' });
  await expect.poll(() => keys.length).toBeGreaterThan(0);
  client.close();
  await answering;
  proxy.mode = 'pass';

  const tabs = await Promise.all([openTab(id, storage, open(keys)), openTab(id, storage, open(keys))]);

  for (const tab of tabs) {
    const view = await shown(tab.store, ({ questions }) => questions.length === 0);
    expect(view.drafts).toEqual({});
  }
  expect(new Set(keys).size).toBe(1);
});

test('pressed twice it is sent once', async () => {
  const { id, question } = await ask();
  const keys: string[] = [];
  const { store } = await openTab(id, null, open(keys));

  await Promise.all([store.answer(question.id, { sure: 'yes' }), store.answer(question.id, { sure: 'yes' })]);
  store.setDraft(question.id, { sure: 'late' });

  expect(keys).toHaveLength(1);
});

test('a storage that is full or forbidden loses drafts over a reload, and nothing else', async () => {
  const { id, question } = await ask();
  const forbid = () => {
    throw new Error('QuotaExceededError');
  };
  const { store } = await openTab(id, { getItem: forbid, setItem: forbid, removeItem: forbid });

  store.setDraft(question.id, { sure: 'x' });
  expect(store.getSnapshot().drafts[question.id]).toMatchObject({ values: { sure: 'x' } });
  await store.answer(question.id, { sure: 'yes' });

  expect(store.getSnapshot()).toMatchObject({ questions: [], drafts: {} });
});
