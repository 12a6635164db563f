import { hash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { migrateDatabase } from '../../src/store/postgres/migrate.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { doneIn, noteDone } from '../protocol/durable-agents.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { type PagedEvent, readLog } from '../support/log-pages.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../support/postgres-server.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSseReader } from '../support/sse-reader.ts';
import { isOnPostgres } from '../support/test-engine.ts';
import { cleanUp, startHoldfast, temporaryDirectory } from './running-server.ts';

// The server that is left keeps its data in files.
const isThere = !isOnPostgres && (await findPostgres()) !== null;
const AGENTS = ['stream-agents', 'durable-agents', 'conversation-agents'].map((name) => `test/protocol/${name}.ts`);
const AUTH = ['--auth', 'token'];

let database: TestDatabase;
beforeAll(async () => {
  if (isThere) database = await createTestDatabase();
});
afterAll(async () => {
  await cleanUp();
  await database?.drop();
});

interface Finished {
  code: number | NodeJS.Signals;
  stdout: string;
  stderr: string;
}

async function migrate(from: string, to: string): Promise<Finished> {
  const run = startHoldfast('migrate', '--from', from, '--to', to);
  return { code: await run.exited, stdout: run.stdout, stderr: run.stderr };
}

/** What a client can read of its owner's things. */
async function everything(api: Api) {
  const conversations = (await api.get<Page<Conversation>>('/v1/conversations?limit=200')).body.items;
  const read = async ({ id }: Conversation) =>
    (await api.get<Page<Message>>(`/v1/conversations/${id}/messages?limit=200`)).body.items;
  return {
    tasks: (await api.get<Page<Task>>('/v1/tasks?limit=200')).body.items,
    questions: (await api.get<Page<Question>>('/v1/questions?limit=200')).body.items,
    conversations,
    messages: await Promise.all(conversations.map(read)),
    log: await readLog(api, '/v1/events'),
  };
}
type Everything = Awaited<ReturnType<typeof everything>>;

/** Values that engines keep in ways of their own. */
const ODD = {
  nul: 'a\u0000b',
  mark: 'a\u0001b\u00010000',
  half: 'x\ud800y',
  large: [2 ** 53 - 1, -(2 ** 53) + 1, 1e308, 5e-324, -0.1],
  quotes: `'"\\{}$1\n`,
};

describe.skipIf(!isThere)('holdfast migrate', () => {
  const dataDir = temporaryDirectory();
  const doneFile = path.join(temporaryDirectory(), 'done');
  const key = { 'Idempotency-Key': randomUUID() };
  let token: string;
  let before: Everything;
  let running: Task;
  let asking: Task;
  let seen: PagedEvent;
  let onPostgres: ServerProcess;

  /** Tasks in every status, and all else that there can be, left by a server that was killed. */
  beforeAll(async () => {
    const made = startHoldfast('tokens', 'create', '--data', dataDir, '--owner', 'ann', '--json');
    expect(await made.exited).toBe(0);
    token = JSON.parse(made.stdout).token;
    const server = await startServerProcess({ dataDir, agents: AGENTS, flags: AUTH });
    const api = createApi(server.url, token);
    const script = (...ops: object[]) => ({ agent: 'script', input: { ops }, metadata: { odd: ODD.nul } });
    const answered = await api.createTask(script({ op: 'ask' }));
    await api.settled(answered.id);
    await api.answer((await api.pendingQuestion(answered.id)).id, true);
    await api.run(
      'script',
      script({ op: 'emit', data: ODD }, { op: 'step', name: 's' }, { op: 'say', text: ODD.nul }).input,
    );
    await api.run('script', script({ op: 'emit', data: { text: 'x'.repeat(60 * 1024) } }).input);
    await api.run('script', script({ op: 'fail', message: 'so be it' }).input);
    await api.createTask({ ...script(), runAt: new Date(Date.now() + 3_600_000).toISOString() });
    await api.createTask(script({ op: 'emit' }), key);
    const cancelled = await api.createTask(script({ op: 'ask' }));
    await api.cancel(cancelled.id, { reason: ODD.mark });
    await talk(api);
    asking = await api.createTask(script({ op: 'ask' }, { op: 'emit', type: 'note.last' }));
    await api.settled(asking.id);
    running = await api.createTask({ agent: 'plodder', input: { file: doneFile } });
    const stream = await openSseReader(`${server.url}/v1/tasks/${running.id}/events`, authorization());
    await stream.until(({ data }) => data?.includes('"plodder.begun"') ?? false);
    stream.close();
    before = await everything(api);
    await server.kill();
  }, 60_000);
  afterAll(async () => {
    if (onPostgres !== undefined) expect(await onPostgres.stop()).toBe(0);
  });

  async function talk(api: Api): Promise<void> {
    const { id } = await made<Conversation>(api, '/v1/conversations', { title: ODD.mark });
    const body = { content: ODD.mark, agent: 'hesitant', metadata: { half: ODD.half } };
    const { task } = await made<{ task: Task }>(api, `/v1/conversations/${id}/messages`, body);
    await api.settled(task.id);
    const gone = await made<Conversation>(api, '/v1/conversations', {});
    await api.send(`/v1/conversations/${gone.id}`, { method: 'DELETE' });
  }

  async function made<Body>(api: Api, path: string, what: object): Promise<Body> {
    const { status, text, body } = await api.post<Body>(path, what);
    if (status >= 300) throw new Error(`Refused with ${status}: ${text}`);
    return body;
  }

  function authorization() {
    return { Authorization: `Bearer ${token}` };
  }

  test('refuses a directory that a server has', async () => {
    const dir = temporaryDirectory();
    const store = await openSqliteStore({ dir });

    const { code, stderr } = await migrate(dir, database.url);
    await store.close();

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: .* is in use by another Hold/),
    });
  });

  test('copies everything, says how much, and leaves the directory as it was', async () => {
    const files = readdirSync(dataDir).filter((name) => /\.db(-wal)?$/.test(name));
    const bytes = () => files.map((name) => hash('sha256', readFileSync(path.join(dataDir, name))));
    const stood = bytes();

    const { code, stdout, stderr } = await migrate(dataDir, database.url);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^task +${before.tasks.length}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^event +${before.log.length}$`, 'm'));
    expect(stdout).toMatch(/^token +1$/m);
    expect(bytes()).toEqual(stood);
  });

  test('refuses a database that holds something, and leaves that as it was', async () => {
    const tasks = () => runSql(database.url, 'select count(*)::int from holdfast.task');
    const stood = await tasks();

    const { code, stderr } = await migrate(dataDir, database.url);

    expect(code).toBe(1);
    expect(stderr).toContain('holds something already; choose an empty one.');
    expect(await tasks()).toEqual(stood);
  });

  test('leaves a database empty that fails in the middle, so that it can be tried again', async () => {
    const other = await createTestDatabase();
    await migrateDatabase(postgres, { url: other.url });
    await runSql(other.url, 'alter table holdfast.message add constraint full_disk check (false)');

    const failed = await migrate(dataDir, other.url);
    const [left] = await runSql(other.url, 'select count(*)::int as logs from holdfast.log');
    await runSql(other.url, 'alter table holdfast.message drop constraint full_disk');
    const again = await migrate(dataDir, other.url);
    await other.drop();

    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain('full_disk');
    expect(left).toEqual({ logs: 0 });
    expect(again.code).toBe(0);
  });

  test('a server on the database takes the token, shows the same, and goes on', async () => {
    onPostgres = await startServerProcess({ database: database.url, agents: AGENTS, flags: AUTH });
    const api = createApi(onPostgres.url, token);
    const again = await api.post<Task>(
      '/v1/tasks',
      { agent: 'script', input: { ops: [{ op: 'emit' }] }, metadata: { odd: ODD.nul } },
      key,
    );
    const after = await everything(api);

    expect(again.status).toBe(202);
    expect(before.tasks.map(({ id }) => id)).toContain(again.body.id);
    expect(after.log.slice(0, before.log.length)).toEqual(before.log);
    expect(after.messages).toEqual(before.messages);
    expect(after.questions).toEqual(before.questions);
    expect(after.conversations).toEqual(before.conversations);
    const others = ({ id }: Task) => id !== running.id;
    expect(after.tasks.filter(others)).toEqual(before.tasks.filter(others));
  });

  test('a cursor of before resumes without a reset or a gap, and the question of before is answered', async () => {
    const api = createApi(onPostgres.url, token);
    seen = before.log.at(-5) as PagedEvent;
    const stream = await openSseReader(`${onPostgres.url}/v1/events`, { ...authorization(), 'Last-Event-ID': seen.id });
    const [question] = before.questions.filter(({ taskId }) => taskId === asking.id);

    const { status } = await api.answer(question?.id ?? '', true);
    await stream.until(({ data }) => [asking.id, 'task.completed'].every((part) => data?.includes(part)));
    stream.close();

    expect(status).toBe(200);
    expect(await api.task(asking.id)).toMatchObject({ status: 'completed', attempt: 1 });
    const told = stream.blocks.filter(({ event, data }) => event === null && data !== null).map(({ id }) => id);
    const log = (await readLog(api, '/v1/events')).map(({ id }) => id);
    expect(stream.blocks.map(({ event }) => event)).not.toContain('reset');
    expect(told).toEqual(log.slice(log.indexOf(seen.id) + 1, log.indexOf(told.at(-1) ?? '') + 1));
  });

  test('what was running goes on from its journal', async () => {
    const api = createApi(onPostgres.url, token);

    noteDone(doneFile, 'go');
    const ended = await api.ended(running.id);

    expect(ended).toMatchObject({ status: 'completed', output: { second: 'second 2' } });
    expect(doneIn(doneFile).filter((done) => done === 'first')).toHaveLength(1);
    expect((await api.eventsOf(running.id)).map(({ type }) => type)).toContain('task.recovered');
  });
});
