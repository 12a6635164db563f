import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Connection } from '../../src/client/connection.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { HoldfastError } from '../../src/client/error.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { type Api, createApi, seqOf } from '../support/api.ts';
import { type Collected, collect, expectTold } from '../support/collect-items.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';

const AGENTS = ['test/protocol/load-agents.ts', 'test/protocol/durable-agents.ts'];
/** Each iteration has a connection of its own, or all share one. */
const BOTH = [{ share: false }, { share: true }];

describe('events', () => {
  let server: ServerProcess;
  let api: Api;
  const clients: Client[] = [];
  const servers: ServerProcess[] = [];

  beforeAll(async () => {
    server = await startServerProcess({ agents: AGENTS });
    api = createApi(server.url);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(servers.splice(0).map((each) => each.kill()));
  });
  afterAll(() => server.stop());

  function open(options: Partial<ClientOptions> = {}): Client {
    const client = createClient({ url: server.url, ...options });
    clients.push(client);
    return client;
  }

  async function start(options: Parameters<typeof startServerProcess>[0]): Promise<ServerProcess> {
    const started = await startServerProcess({ agents: AGENTS, ...options });
    servers.push(started);
    return started;
  }

  describe.each(BOTH)('with share $share', (how) => {
    test('tells a task from its first event to its end, and then ends', async () => {
      const task = await api.createTask({ agent: 'ticker', input: { count: 300, everyMs: 1 } });

      const told = collect(open(how).events({ taskId: task.id }));

      await told.ended;
      expectTold(told.events(), await api.eventsOf(task.id));
    });

    test('tells nothing of a task that is behind the cursor, and ends', async () => {
      const { id } = await api.run('ticker', { count: 3 });
      const { cursor } = await api.task(id);

      const told = collect(open(how).events({ taskId: id, after: cursor.last }));

      await told.ended;
      expect(told.events()).toEqual([]);
    });

    test('tells of a task its children too, whenever they began', async () => {
      const client = open(how);
      const other = await api.createTask({ agent: 'ticker', input: { count: 400, everyMs: 1 } });
      const children = [0, 1].map(() => ({ agent: 'ticker', input: { count: 200, everyMs: 1 } }));
      const task = await api.createTask({ agent: 'parent', input: children });
      const early = collect(client.events({ taskId: task.id }));
      await early.until(({ type }) => type === 'load.tick');
      const late = collect(client.events({ taskId: task.id, after: early.events().at(-1)?.id ?? '' }));

      await Promise.all([early.ended, late.ended]);

      const log = (await api.log()).filter(({ seq }) => seq >= (early.events()[0]?.seq ?? 0));
      const children2 = log.filter(({ type, data }) => type === 'task.created' && data.parentId === task.id);
      const tree = [task.id, ...children2.map(({ taskId }) => taskId)];
      expect(tree).toHaveLength(3);
      const ofTree = log.filter(({ taskId }) => tree.includes(taskId));
      expectTold(early.events(), ofTree);
      const from = late.events()[0]?.seq ?? 0;
      expectTold(
        late.events(),
        ofTree.filter(({ seq }) => seq >= from),
      );
      await api.ended(other.id);
    });

    test('tells only the types that are asked for, and still ends', async () => {
      const { id } = await api.createTask({ agent: 'closer', input: { before: 5, after: 5 } });
      const told = collect(open(how).events({ taskId: id, types: ['question.*', 'task.waiting'] }));
      await told.until(({ type }) => type === 'task.waiting');

      await api.answer((await api.pendingQuestion(id)).id, true);
      await told.ended;

      expect(told.events().map(({ type }) => type)).toEqual(['question.asked', 'task.waiting', 'question.answered']);
    });

    test('goes on exactly through connections that are cut in the middle of a line', async () => {
      const cuts = Array.from({ length: 40 }, (_, n) => 300 + 977 * n);
      const proxy = await openCuttingProxy(server.url, cuts);
      const client = open({ ...how, url: proxy.url });
      // A tunnel's end is told by the device: no waiting for the next attempt.
      const waking = client.connection.subscribe(() => {
        if (client.connection.getSnapshot().retryAt !== null) queueMicrotask(() => client.wake());
      });
      const { id } = await api.createTask({ agent: 'ticker', input: { count: 3000, everyMs: 1, padBytes: 100 } });

      const told = collect(client.events({ taskId: id }));

      await told.ended;
      waking();
      expectTold(told.events(), await api.eventsOf(id));
      expect(proxy.cuts).toBeGreaterThan(how.share ? 3 : 10);
      await proxy.close();
    });

    test('goes on exactly when the server is killed and comes back', async () => {
      const dataDir = newDirectory();
      let own = await start({ dataDir });
      const port = Number(new URL(own.url).port);
      const client = open({ ...how, url: own.url });
      const seen: Connection[] = [];
      client.connection.subscribe(() => seen.push(client.connection.getSnapshot()));
      const { id } = await createApi(own.url).createTask({ agent: 'closer', input: { before: 50, after: 50 } });
      const told = collect(client.events({ taskId: id }));
      await told.until(({ type }) => type === 'question.asked');

      await own.kill();
      own = await start({ dataDir, port });
      const after = createApi(own.url);
      await after.answer((await after.pendingQuestion(id)).id, true);
      await told.ended;

      expectTold(told.events(), await after.eventsOf(id));
      expect(seen.map(({ status }) => status)).toContain('reconnecting');
      expect(told.items.filter(({ type }) => type === 'reset')).toEqual([]);
      await own.stop();
      rmSync(dataDir, { recursive: true });
    });

    test('says `reset` when the server has another past, and goes on with what is unfinished there', async () => {
      const first = await start({});
      const port = Number(new URL(first.url).port);
      const client = open({ ...how, url: first.url });
      const told = collect(client.events());
      await createApi(first.url).run('closer', { before: 20 });
      await told.until(({ type }) => type === 'question.asked');

      await first.kill();
      const second = await start({ port });
      const { id } = await createApi(second.url).createTask({ agent: 'closer', input: { before: 3 } });
      const reset = await told.until(({ type }) => type === 'reset');
      await told.until((item) => item.type === 'question.asked' && 'taskId' in item && item.taskId === id);

      expect(reset).toMatchObject({ type: 'reset', reason: expect.stringMatching(/unknown|ahead/) });
      const since = told.items.slice(told.items.indexOf(reset));
      const events = since.flatMap((item) => ('seq' in item ? [item] : []));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
    });

    test('says at once what no second attempt would mend', async () => {
      const failure = (query: Parameters<Client['events']>[0]) =>
        collect(open(how).events(query)).ended.then(
          () => null,
          ({ code, status }: HoldfastError) => ({ code, status }),
        );

      expect(await failure({ taskId: 'task_01k00000000000000000000000' })).toEqual({ code: 'not_found', status: 404 });
      expect(await failure({ after: 'rubbish' })).toEqual({ code: 'invalid_request', status: 400 });
      expect(await failure({ types: ['a b'] })).toEqual({ code: 'invalid_request', status: 400 });
    });

    test('ends while it waits, by its signal, by `return` and by closing the client', async () => {
      const client = open(how);
      const controller = new AbortController();
      const bySignal = collect(client.events({ after: 'latest', signal: controller.signal }));
      const returned = client.events({ after: 'latest' });
      const byReturn = collect(returned);
      const byClosing = collect(client.events({ after: 'latest' }));
      await Promise.all([bySignal, byReturn, byClosing].map((each) => each.until(({ type }) => type === 'caught-up')));
      expect(await streamsOpen(api)).toBe(how.share ? 1 : 3);

      controller.abort();
      await bySignal.ended;
      await returned.return?.();
      await byReturn.ended;
      client.close();
      await byClosing.ended;

      await expect.poll(() => streamsOpen(api)).toBe(0);
      expect(client.connection.getSnapshot()).toMatchObject({ status: 'idle' });
    });

    test('lets its connection go when it is aborted while its caller is busy with an item', async () => {
      const client = open(how);
      const controller = new AbortController();
      const { id } = await api.createTask({ agent: 'closer', input: { before: 5 } });

      for await (const { type } of client.events({ taskId: id, signal: controller.signal })) {
        if (type === 'load.tick') controller.abort();
      }

      await expect.poll(() => streamsOpen(api), { timeout: 5000 }).toBe(0);
      expect(client.connection.getSnapshot()).toMatchObject({ status: 'idle' });
    });

    test('takes an empty list of types for all of them, before and after what is on disk', async () => {
      const { id } = await api.createTask({ agent: 'closer', input: { before: 3, after: 3 } });
      const told = collect(open(how).events({ taskId: id, types: [] }));
      await told.until(({ type }) => type === 'question.asked');

      await api.answer((await api.pendingQuestion(id)).id, true);
      await told.ended;

      expectTold(told.events(), await api.eventsOf(id));
    });

    test('polls where a `fetch` gives bodies only as a whole', async () => {
      const client = open({ ...how, fetch: fetchWhole });
      const { id } = await api.createTask({ agent: 'closer', input: { before: 20, after: 20 } });
      const told = collect(client.events({ taskId: id }));
      await told.until(({ type }) => type === 'question.asked');

      await api.answer((await api.pendingQuestion(id)).id, true);
      await told.ended;

      expectTold(told.events(), await api.eventsOf(id));
    });
  });

  test('shows that it was refused until somebody tries again', async () => {
    const client = open({ share: false });
    const refused = collect(client.events({ taskId: 'task_01k00000000000000000000000' }));

    await expect(refused.ended).rejects.toMatchObject({ code: 'not_found' });
    expect(client.connection.getSnapshot()).toMatchObject({ status: 'refused', code: 'not_found' });

    await collect(client.events({ after: 'latest' })).until(({ type }) => type === 'caught-up');
    await expect.poll(() => client.connection.getSnapshot()).toMatchObject({ status: 'live', code: null });
  });

  test('gives any number of readers of any part all of it over one connection, however late or slow they are', async () => {
    const client = open({ share: true });
    const tasks = await Promise.all(
      Array.from({ length: 4 }, () => api.createTask({ agent: 'ticker', input: { count: 2500, everyMs: 1 } })),
    );
    const early = collect(client.events({ after: '0' }));
    const streams: number[] = [];
    const late: Collected[] = [];
    const slow = client.events({ after: tasks[0]?.cursor.before ?? '0' });
    const slowly: StreamEvent[] = [];
    for (const n of Array.from({ length: 24 }, (_, index) => index)) {
      await early.until((item) => item.type === 'load.tick' && 'seq' in item && item.seq > 250 * n);
      const { value } = await slow.next();
      if (value && 'seq' in value) slowly.push(value);
      const after = early.events().at(-(n + 1))?.id;
      const taskId = tasks[n % 4]?.id ?? '';
      late.push(collect(client.events(n % 3 === 0 ? { after: after ?? '0' } : { taskId })));
      streams.push(await streamsOpen(api));
    }
    await Promise.all(tasks.map(({ id }) => api.ended(id)));
    const log = await api.log();
    const last = log.at(-1)?.seq;
    await early.until((item) => 'seq' in item && item.seq === last);
    for (;;) {
      const { value } = await slow.next();
      if (value && 'seq' in value) slowly.push(value);
      if (slowly.at(-1)?.seq === last) break;
    }

    expectTold(early.events(), log);
    expectTold(
      slowly,
      log.filter(({ seq }) => seq > seqOf(tasks[0]?.cursor.before ?? '')),
    );
    for (const [n, each] of late.entries()) {
      if (n % 3 === 0) await each.until((item) => 'seq' in item && item.seq === last);
      else await each.ended;
      const from = each.events()[0]?.seq ?? 0;
      const covered = log.filter(({ seq, taskId }) => seq >= from && (n % 3 === 0 || taskId === tasks[n % 4]?.id));
      expectTold(each.events(), covered);
    }
    expect(new Set(streams)).toEqual(new Set([1]));
  });
});

type StreamEvent = ReturnType<Collected['events']>[number];

async function streamsOpen(api: Api): Promise<number> {
  const { text } = await api.get('/metrics');
  return Number(/^holdfast_streams_open (\d+)/m.exec(text)?.[1]);
}

/** As React Native's does it. */
async function fetchWhole(...args: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...args);
  const { status, headers } = response;
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    const whole = new Response(null, { status, headers });
    return whole;
  }
  return response;
}
