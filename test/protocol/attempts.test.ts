import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType } from '../support/sse-reader.ts';
import { doneIn } from './durable-agents.ts';

const AGENTS = [...TASK_AGENTS, 'test/protocol/durable-agents.ts'];
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };
const UNKNOWN = `task_${'0'.repeat(26)}`;

const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
let files = 0;
let file: string;
let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: AGENTS });
  api = createApi(server.url);
});
beforeEach(() => {
  file = path.join(dir, `done-${++files}`);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
  rmSync(dir, { recursive: true });
});

describe('§4 maxAttempts', () => {
  test('a failed attempt is followed by another, which keeps what had succeeded', async () => {
    const { id } = await api.createTask({ agent: 'flaky', input: { file, failures: 1 }, maxAttempts: 3 });

    const task = await api.ended(id);

    expect(task).toMatchObject({ status: 'completed', attempt: 2, output: 2 });
    expect(doneIn(file)).toEqual(['steady', 'shaky', 'shaky']);
    const events = await api.eventsOf(id);
    expectOneEnd(events, task);
    expect(events.map(({ type }) => type)).toEqual([
      ...['task.created', 'task.started', 'step.started', 'step.completed', 'flaky.ready'],
      ...['step.started', 'step.failed', 'task.retrying', 'task.started', 'step.started', 'step.completed'],
      ...['flaky.done', 'task.completed'],
    ]);
    const retrying = events.find(({ type }) => type === 'task.retrying');
    expect(retrying?.data).toEqual({
      attempt: 1,
      error: { code: 'agent_error', message: 'shaken' },
      retryAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const waitedMs = Date.parse(retrying?.data.retryAt) - Date.parse(retrying?.at ?? '');
    expect(waitedMs).toBeGreaterThanOrEqual(0);
    expect(waitedMs).toBeLessThanOrEqual(1000);
  });

  test('the last of them fails the task', async () => {
    const { id } = await api.createTask({ agent: 'flaky', input: { file, failures: 9 }, maxAttempts: 2 });

    const task = await api.ended(id);

    expect(task).toMatchObject({ status: 'failed', attempt: 2, error: { code: 'agent_error', message: 'shaken' } });
    expect(doneIn(file)).toEqual(['steady', 'shaky', 'shaky']);
  });

  test('each has the whole running time', async () => {
    const { id } = await api.createTask({ agent: 'holder', timeoutMs: 300, maxAttempts: 2 });

    const task = await api.ended(id);

    expect(task).toMatchObject({ status: 'failed', attempt: 2, error: { code: 'timeout' } });
    const events = await api.eventsOf(id);
    const at = events.filter(({ type }) => /^task\.(started|retrying|failed)$/.test(type));
    expect(at.map(({ type }) => type)).toEqual(['task.started', 'task.retrying', 'task.started', 'task.failed']);
    const [first = 0, retrying = 0, second = 0, failed = 0] = at.map((event) => Date.parse(event.at));
    expect(retrying - first).toBeGreaterThanOrEqual(300);
    expect(failed - second).toBeGreaterThanOrEqual(300);
  });

  test('what would fail again as well is not tried again', async () => {
    const { id } = await api.createTask({ agent: 'outputs', input: 'function', maxAttempts: 5 });

    expect(await api.ended(id)).toMatchObject({ status: 'failed', attempt: 1, error: { code: 'invalid_output' } });
  });
});

describe('§4 retry', () => {
  const retry = (id: string, headers = {}) => api.post<Task>(`/v1/tasks/${id}/retry`, undefined, headers);

  test('a failed task goes on in a new one from before its failure', async () => {
    const { id } = await api.createTask({
      ...{ agent: 'flaky', input: { file, failures: 1 }, metadata: { a: 1 }, priority: 3, concurrencyKey: 'k' },
    });
    const failed = await api.ended(id);

    const { status, headers, body } = await retry(id);
    const task = await api.ended(body.id);

    expect(status).toBe(202);
    expect(headers.get('Location')).toBe(`/v1/tasks/${body.id}`);
    expect(headers.get('Holdfast-Cursor')).toBe(body.cursor.last);
    expect(body).toMatchObject({
      ...{ status: 'queued', retryOf: id, parentId: null, rootId: body.id, attempt: 0 },
      ...{ agent: 'flaky', input: failed.input, metadata: { a: 1 }, priority: 3, concurrencyKey: 'k' },
    });
    expect(task).toMatchObject({ status: 'completed', retryOf: id, output: 1 });
    expect(doneIn(file)).toEqual(['steady', 'shaky', 'shaky']);
    const events = await api.eventsOf(body.id);
    expect(events[0]).toMatchObject({ type: 'task.created', data: { retryOf: id } });
    expect(events.map(({ type }) => type)).toEqual([
      ...['task.created', 'task.started', 'flaky.ready', 'step.started', 'step.completed', 'flaky.done'],
      'task.completed',
    ]);
    expect(await api.task(id)).toEqual(failed);
  });

  test('a cancelled task asks anew what nobody had answered', async () => {
    const { id } = await api.run('clerk', { file, spec: SPEC });
    const asked = await api.pendingQuestion(id);
    await api.cancel(id);

    const { body } = await retry(id);
    await api.settled(body.id);
    const again = await api.pendingQuestion(body.id);
    await api.answer(again.id, 'yes');

    expect(again.id).not.toBe(asked.id);
    expect(await api.ended(body.id)).toMatchObject({ status: 'completed', output: { before: 'before' } });
    expect(doneIn(file)).toEqual(['before', 'after']);
  });

  test('the same Idempotency-Key names the same new task', async () => {
    const { id } = await api.createTask({ agent: 'refuser', input: 'no' });
    await api.ended(id);
    const headers = { 'Idempotency-Key': `retry-${id}` };

    const first = await retry(id, headers);
    const again = await retry(id, headers);

    expect(again.text).toBe(first.text);
    expect(again.status).toBe(202);
    expect(again.headers.get('Location')).toBe(`/v1/tasks/${first.body.id}`);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
  });

  test('any other task is refused, and shown', async () => {
    const completed = await api.run('echo', 1);
    const running = await api.createTask({ agent: 'holder' });
    const waiting = await api.run('asker', SPEC);

    for (const { id } of [completed, running, waiting]) {
      const problem = expectProblem(await retry(id), 409, 'task_finished');
      expect(problem.task).toMatchObject({ id });
    }
    expectProblem(await retry(UNKNOWN), 404, 'not_found');
    expectProblem(await api.post(`/v1/tasks/${completed.id}/retry`, { input: 1 }), 400, 'invalid_request');
  });

  test('goes on from a retry as well', async () => {
    const { id } = await api.createTask({ agent: 'flaky', input: { file, failures: 2 } });
    await api.ended(id);
    const second = (await retry(id)).body;
    expect((await api.ended(second.id)).status).toBe('failed');

    const third = (await retry(second.id)).body;

    expect(await api.ended(third.id)).toMatchObject({ status: 'completed', retryOf: second.id });
    expect(doneIn(file)).toEqual(['steady', 'shaky', 'shaky', 'shaky']);
  });
});

describe('§4 runAt', () => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();

  test('a task is queued and not begun before its time', async () => {
    const runAt = at(1500);
    const created = await api.createTask({ agent: 'echo', input: 1, runAt });
    const other = await api.run('echo', 2);

    const early = await api.task(created.id);
    const task = await api.ended(created.id);

    expect(other.status).toBe('completed');
    expect(created.runAt).toBe(runAt);
    expect(early).toMatchObject({ status: 'queued', startedAt: null, runAt });
    expect(task).toMatchObject({ status: 'completed', runAt: null });
    const startedAt = Date.parse(task.startedAt ?? '');
    expect(startedAt).toBeGreaterThanOrEqual(Date.parse(runAt));
    expect(startedAt).toBeLessThan(Date.parse(runAt) + 1000);
  });

  test('holds up nobody in its lane, and does not overtake there', async () => {
    const lane = { concurrencyKey: 'later' };
    const delayed = await api.createTask({
      agent: 'marker',
      input: { file, name: 'delayed' },
      runAt: at(700),
      ...lane,
    });
    const next = await api.createTask({ agent: 'marker', input: { file, name: 'next' }, ...lane });

    await Promise.all([api.ended(delayed.id), api.ended(next.id)]);

    expect(doneIn(file)).toEqual(['next', 'delayed']);
  });

  test('that is past is now', async () => {
    const { status } = await api.run('echo', 1, { runAt: '1999-12-31T23:59:59+02:00' });

    expect(status).toBe('completed');
  });

  test('may be cancelled before, and is then never begun', async () => {
    const { id } = await api.createTask({ agent: 'marker', input: { file, name: 'never' }, runAt: at(300) });
    await api.cancel(id);
    await api.run('napper', 600);
    await (await api.openStream(`/v1/tasks/${id}/events?after=0`)).until(isType('task.cancelled'));

    expect((await api.ended(id)).status).toBe('cancelled');
    expect(doneIn(file)).toEqual([]);
  });

  test.each(['tomorrow', '2026-11-30', '2026-11-30T12:00:00', 5, at(366 * 86_400_000)])(
    'is refused as %s',
    async (runAt) => {
      const problem = expectProblem(await api.post('/v1/tasks', { agent: 'echo', runAt }), 400, 'invalid_request');

      expect(problem.errors).toMatchObject([{ path: '/runAt' }]);
    },
  );
});
