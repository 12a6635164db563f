import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import {
  type ConversationStoreOptions,
  createConversationStore,
} from '../../src/client/conversation/conversation-store.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { setWaker } from '../../src/client/waker-of.ts';
import { type FlakyProxy, openFlakyProxy } from '../support/flaky-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { createHandWaker } from './hand-waker.ts';
import { outline } from './made-log.ts';
import { openPage, said, shown } from './shown.ts';

describe.each([{ share: false }, { share: true }])('a conversation, with share $share', (how) => {
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

  function open(options: Partial<ClientOptions> = {}): Client {
    const client = createClient({ url: proxy.url, ...how, ...options });
    clients.push(client);
    return client;
  }

  /** A new conversation and what shows it. */
  async function begin(options: ConversationStoreOptions = {}) {
    const client = open();
    const { id } = await client.conversations.create();
    const store = createConversationStore(client, id, options);
    return { client, id, store, page: openPage(store) };
  }

  test('what was said is read, and what is said is followed', async () => {
    const { client, id, store } = await begin();
    const { task } = await client.conversations.send(id, { content: 'hi', agent: 'parrot' });
    await client.tasks.get(task.id, { wait: 30 });
    const later = createConversationStore(client, id);
    expect(later.getSnapshot()).toMatchObject({ status: 'loading', entries: [], conversation: null });

    const read = await shown(later, ({ status }) => status === 'ready');
    const followed = await shown(store, ({ entries, unfinished }) => entries.length === 2 && unfinished.length === 0);

    expect(read).toMatchObject({ conversation: { id }, unfinished: [], questions: [], hasOlder: false, error: null });
    expect(outline(read.entries)).toEqual(['user: hi', 'assistant: You said: hi']);
    expect(outline(followed.entries)).toEqual(outline(read.entries));
  });

  test('text grows while it is written, and listeners are spared most of that', async () => {
    const { store, page } = await begin();
    await store.send({ content: 'on', agent: 'endless' });

    const view = await shown(store, ({ entries }) =>
      entries.some((each) => each.kind === 'text' && each.text.length > 300),
    );

    expect(outline(view.entries)).toEqual(['user: on', expect.stringMatching(/^writing: (on )+$/)]);
    expect(page.views.length).toBeLessThan(100);
    expect(new Set(page.views).size).toBe(page.views.length);
    expect(store.getSnapshot()).toBe(store.getSnapshot());
    await store.cancel();
  });

  test('a message is shown at once, and keeps its place and key when the server has it', async () => {
    const { store, page } = await begin();
    await shown(store, ({ status }) => status === 'ready');

    const sending = store.send({ content: 'hi', agent: 'silent' });
    const outgoing = store.getSnapshot().entries;
    await sending;
    const view = await shown(store, ({ entries, unfinished }) => entries.length === 2 && unfinished.length === 0);

    expect(outgoing).toMatchObject([{ kind: 'outgoing', content: 'hi', status: 'sending', error: null }]);
    expect(view.entries[0]).toMatchObject({ kind: 'message', key: outgoing[0]?.key, message: { content: 'hi' } });
    const firsts = page.views.map(({ entries }) => entries[0]?.key).filter((key) => key !== undefined);
    expect(new Set(firsts)).toEqual(new Set([outgoing[0]?.key]));
    for (const { entries } of page.views)
      expect(outline(entries).filter((each) => each.endsWith(': hi'))).toHaveLength(entries.length > 0 ? 1 : 0);
  });

  test('a message whose answer is lost is shown once, as soon as it is told of', async () => {
    const { store, page } = await begin();
    await shown(store, ({ status }) => status === 'ready');
    await store.send({ content: 'first', agent: 'silent' });
    await shown(store, ({ entries, unfinished }) => entries.length === 2 && unfinished.length === 0);
    proxy.mode = 'lose-answers';

    const sending = store.send({ content: 'hi', agent: 'silent' });
    const { key } = store.getSnapshot().entries.find((entry) => entry.kind === 'outgoing') ?? {};
    const told = await shown(store, (view) => said(view, 'hi') !== undefined);
    proxy.mode = 'pass';
    await sending;

    expect(said(told, 'hi')).toMatchObject({ key });
    expect(told.entries.some(({ kind }) => kind === 'outgoing')).toBe(false);
    const last = await shown(store, ({ unfinished, entries }) => unfinished.length === 0 && entries.length === 4);
    expect(outline(last.entries)).toEqual(['user: first', 'assistant: ', 'user: hi', 'assistant: ']);
    for (const { entries } of page.views) {
      expect(outline(entries).filter((each) => each.endsWith(': hi')).length).toBeLessThan(2);
    }
  });

  test('a message that is accepted while the page is read stays in view', async () => {
    const { id } = await begin();
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (String(url).includes('/messages?')) await released;
      return response;
    };
    const store = createConversationStore(open({ fetch: holding }), id);
    const page = openPage(store);
    await expect.poll(() => proxy.requests.some((each) => each.includes('/messages?order=desc'))).toBe(true);
    await store.send({ content: 'hi', agent: 'hesitant' });

    release();
    await shown(store, ({ questions }) => questions.length === 1);

    const counts = page.views.map(({ entries }) => outline(entries).filter((each) => each.endsWith(': hi')).length);
    expect(new Set(counts)).toEqual(new Set([1]));
    expect(new Set(page.views.map(({ entries }) => entries[0]?.key)).size).toBe(1);
  });

  test('a message that is refused keeps its text until it is taken out', async () => {
    const { store } = await begin();
    await store.send({ content: 'one', agent: 'endless' });

    await store.send({ content: 'two', whenBusy: 'reject' });
    const { entries } = store.getSnapshot();
    const refused = entries.at(-1);
    store.discard(refused?.key ?? '');

    expect(refused).toMatchObject({ kind: 'outgoing', content: 'two', status: 'refused' });
    expect(refused).toMatchObject({ error: { code: 'conversation_busy' } });
    expect(store.getSnapshot().entries).toHaveLength(entries.length - 1);
    await store.cancel();
  });

  test('what interrupts a turn ends its question and its text, and the notice says why', async () => {
    const { store } = await begin();
    await store.send({ content: 'Porto', agent: 'hesitant' });
    const asked = await shown(store, ({ questions }) => questions.length === 1);

    await store.send({ content: 'Rome' });
    await shown(store, ({ questions }) => questions.length === 1 && questions[0] !== asked.questions[0]);
    const view = await shown(store, ({ unfinished }) => unfinished[0]?.status === 'waiting');

    expect(outline(view.entries)).toEqual([
      ...['user: Porto', 'assistant: About Porto.', 'sure cancelled', 'cancelled'],
      ...['user: Rome', 'assistant: About Rome.', 'sure pending'],
    ]);
    expect(view.entries[3]).toMatchObject({ notice: { type: 'cancelled', reason: 'interrupted' } });
    expect(view.unfinished).toMatchObject([{ agent: 'hesitant', status: 'waiting', waitingFor: ['people'] }]);
  });

  test('a page that is opened in the middle shows what one shows that saw it all', async () => {
    const { client, id, store } = await begin();
    await store.send({ content: 'work tool say ask', agent: 'program' });
    const view = await shown(store, ({ unfinished }) => unfinished[0]?.status === 'waiting');

    const later = createConversationStore(client, id);
    const late = await shown(later, ({ entries }) => entries.some(({ kind }) => kind === 'activity'));

    const ownKey = ({ key, ...rest }: (typeof view.entries)[0]) => rest;
    expect(late.entries.map(ownKey)).toEqual(view.entries.map(ownKey));
    expect(late.unfinished).toEqual(view.unfinished);
    expect(late.questions).toEqual(view.questions);
    expect(outline(late.entries)).toMatchObject([
      ...['user: work tool say ask', 'work-0-0 completed', 'tool completed'],
      ...[expect.stringMatching(/^assistant: say/), 'ask-3-0 pending'],
    ]);
  });

  test('all that has no parent is stopped', async () => {
    const { store } = await begin();
    await store.send({ content: 'child+say', agent: 'program' });
    await store.send({ content: 'say', agent: 'program', whenBusy: 'enqueue' });
    await shown(store, ({ unfinished }) => unfinished.length === 3);

    await store.cancel();

    const view = await shown(store, ({ unfinished }) => unfinished.length === 0);
    expect(view.entries.filter(({ kind }) => kind === 'notice')).toHaveLength(2);
  });

  test('pages of older messages come in front, until there are none', async () => {
    const { client, id, store, page } = await begin();
    for (let n = 0; n < 12; n++) {
      const { task } = await client.conversations.send(id, { content: `${n}`, agent: 'parrot', whenBusy: 'enqueue' });
      await client.tasks.get(task.id, { wait: 30 });
    }
    page.leave();
    await shown(store, ({ unfinished }) => unfinished.length === 0);
    const paged = createConversationStore(client, id, { pageSize: 10 });
    openPage(paged);
    const first = await shown(paged, ({ status }) => status === 'ready');

    await Promise.all([paged.loadOlder(), paged.loadOlder()]);
    const second = paged.getSnapshot();
    await paged.loadOlder();
    await paged.loadOlder();
    const all = paged.getSnapshot();

    const everything = Array.from({ length: 12 }, (_, n) => [`user: ${n}`, `assistant: You said: ${n}`]).flat();
    expect([first, second, all].map(({ hasOlder }) => hasOlder)).toEqual([true, true, false]);
    expect(outline(first.entries)).toEqual(everything.slice(14));
    expect(outline(second.entries)).toEqual(everything.slice(4));
    expect(outline(all.entries)).toEqual(everything);
    expect(all.isLoadingOlder).toBe(false);
    expect(second.entries.slice(10)).toEqual(first.entries);
  });

  test('older messages that cannot be read are asked for again', async () => {
    const { client, id, store } = await begin({ pageSize: 1 });
    const { task } = await client.conversations.send(id, { content: 'x', agent: 'parrot' });
    await client.tasks.get(task.id, { wait: 30 });
    const paged = createConversationStore(client, id, { pageSize: 1 });
    openPage(paged);
    await shown(paged, ({ status }) => status === 'ready');
    proxy.mode = 'bad-gateway';

    await expect(paged.loadOlder()).rejects.toMatchObject({ code: 'unreachable' });

    expect(paged.getSnapshot()).toMatchObject({ hasOlder: true, isLoadingOlder: false });
    proxy.mode = 'pass';
    await paged.loadOlder();
    expect(paged.getSnapshot()).toMatchObject({ hasOlder: false });
    expect(store.getSnapshot().status).toBe('ready');
  });

  test('a conversation that is renamed and deleted says so', async () => {
    const { client, id, store } = await begin();
    await shown(store, ({ status }) => status === 'ready');
    await client.conversations.update(id, { title: 'Lisbon' });
    await shown(store, ({ conversation }) => conversation?.title === 'Lisbon');

    await client.conversations.delete(id);

    expect(await shown(store, ({ status }) => status === 'deleted')).toMatchObject({ error: null });
  });

  test('one that is deleted while nobody looked says so as well', async () => {
    const { client, id, store, page } = await begin();
    await shown(store, ({ status }) => status === 'ready');
    page.leave();
    await client.conversations.delete(id);

    openPage(store);

    expect(await shown(store, ({ status }) => status === 'deleted')).toMatchObject({
      error: null,
      conversation: { id },
    });
  });

  test('one that never was has failed', async () => {
    const store = createConversationStore(open(), 'conv_00000000000000000000000000');

    expect(await shown(store, ({ status }) => status !== 'loading')).toMatchObject({
      status: 'failed',
      error: { code: 'not_found' },
    });
  });

  test('a server that cannot be reached is tried until it can', async () => {
    const { id } = await begin();
    proxy.mode = 'bad-gateway';
    const client = open();
    const store = createConversationStore(client, id);
    const page = openPage(store);
    const readsOf = () => proxy.requests.filter((each) => each === `GET /v1/conversations/${id}`).length;
    const before = readsOf();
    await expect.poll(readsOf, { timeout: 10_000 }).toBeGreaterThan(before + 3);

    expect(store.getSnapshot().status).toBe('loading');
    proxy.mode = 'pass';

    await shown(store, ({ status }) => status === 'ready');
    expect(page.views.every(({ status }) => status !== 'failed')).toBe(true);
  });

  test('a wait for the server ends when the client is woken', async () => {
    const { id } = await begin();
    const client = open();
    const waker = createHandWaker();
    setWaker(client, waker);
    proxy.mode = 'bad-gateway';
    const store = createConversationStore(client, id);
    const page = openPage(store);
    await waker.pauses();
    proxy.mode = 'pass';

    waker.wake();

    await shown(store, ({ status }) => status === 'ready');
    page.leave();
    expect(waker.size).toBe(0);
  });

  test('who leaves ends the stream, keeps what was shown, and begins anew when he comes back', async () => {
    const { client, id, store, page } = await begin();
    await shown(store, ({ status }) => status === 'ready');
    await expect.poll(() => proxy.openStreams).toBe(1);

    page.leave();
    page.leave();

    await expect.poll(() => proxy.openStreams, { timeout: 5000 }).toBe(0);
    expect(store.getSnapshot().status).toBe('ready');
    await client.conversations.send(id, { content: 'meanwhile', agent: 'silent' });
    const again = openPage(store);
    await shown(store, (view) => said(view, 'meanwhile') !== undefined);
    expect(again.views.every(({ status }) => status === 'ready')).toBe(true);
  });

  test('a client that is closed ends everything without an error', async () => {
    const { client, store } = await begin();
    const { entries } = await shown(store, ({ status }) => status === 'ready');
    proxy.mode = 'silent';
    const sending = store.send({ content: 'lost' });

    client.close();
    await sending;

    expect(entries).toEqual([]);
    expect(store.getSnapshot()).toMatchObject({ status: 'ready', entries: [{ status: 'sending', content: 'lost' }] });
  });

  test('messages arrive in the order in which they were sent, also when they were sent without a network', async () => {
    const { client, store } = await begin();
    await shown(store, ({ status }) => status === 'ready');
    proxy.mode = 'bad-gateway';
    const sending = ['one', 'two', 'three'].map((content) => store.send({ content, whenBusy: 'enqueue' }));

    proxy.mode = 'pass';
    client.wake();
    await Promise.all(sending);

    const { entries } = await shown(store, ({ entries: all }) => all.every(({ kind }) => kind !== 'outgoing'));
    const said = entries.flatMap((entry) =>
      entry.kind === 'message' && entry.message.role === 'user' ? [entry.message] : [],
    );
    expect(said.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
  });
});
