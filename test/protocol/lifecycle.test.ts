import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

async function unfinished(api: Api): Promise<{ tasks: Task[]; questions: Question[] }> {
  const { body: tasks } = await api.get<Page<Task>>('/v1/tasks?status=unfinished&limit=200');
  const { body: questions } = await api.get<Page<Question>>('/v1/questions?status=pending&limit=200');
  return { tasks: tasks.items, questions: questions.items };
}

/** Starts a task and resolves once it has emitted an event of this type. */
async function begun(api: Api, body: object, type: string): Promise<Task> {
  const task = await api.createTask(body);
  const reader = await api.openStream(`/v1/tasks/${task.id}/events`);
  await reader.until(isType(type));
  reader.close();
  return task;
}

describe('§4 a restart', () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ dataDir, agents: TASK_AGENTS });
    api = createApi(server.url);
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    rmSync(dataDir, { recursive: true });
  });

  async function restart(end: 'kill' | 'stop', agents = TASK_AGENTS): Promise<void> {
    if (end === 'kill') await server.kill();
    else expect(await server.stop('SIGTERM')).toBe(0);
    server = await startServerProcess({ dataDir, agents });
    api = createApi(server.url);
  }

  async function allEnded(): Promise<void> {
    // Where others might go on with it, what nobody was told of waits until its process counts as dead.
    await expect.poll(() => unfinished(api), { timeout: 20_000 }).toEqual({ tasks: [], questions: [] });
  }

  test('a 202 is sent only for what is on disk: kill -9 right after it loses nothing', async () => {
    for (let round = 0; round < 2; round++) {
      const acknowledged: string[] = [];
      const requests = Array.from({ length: 40 }, async (_, input) => {
        const { status, body } = await api.post<Task>('/v1/tasks', { agent: 'echo', input });
        if (status === 202 && acknowledged.push(body.id) === 1) await server.kill();
      });
      await Promise.allSettled(requests);
      await restart('kill');

      expect(acknowledged.length).toBeGreaterThan(0);
      const ends = await Promise.all(acknowledged.map((id) => api.ended(id)));
      expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'completed'));
      const seqs = (await api.log()).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      await allEnded();
    }
  });

  test('changes nothing that had ended, and what was queued runs', async () => {
    const running = await begun(api, { agent: 'holder', concurrencyKey: 'lane' }, 'holder.begun');
    const queued = await api.createTask({ agent: 'echo', input: 'later', concurrencyKey: 'lane' });
    const completed = await api.run('echo', 'before');
    const answered = await api.run('asker', SPEC);
    const question = await api.pendingQuestion(answered.id);
    await api.answer(question.id, 'before');
    const ended = await api.ended(answered.id);

    await restart('kill');
    await api.cancel(running.id);

    expect(await api.ended(queued.id)).toMatchObject({ status: 'completed', output: 'later' });
    expect(await api.task(completed.id)).toEqual(completed);
    expect(await api.task(ended.id)).toEqual(ended);
    expect((await api.question(question.id)).status).toBe('answered');
    await allEnded();
  });

  test('a cursor and an Idempotency-Key from before are still good', async () => {
    const headers = { 'Idempotency-Key': 'before-the-restart' };
    const created = await api.post<Task>('/v1/tasks', { agent: 'echo', input: 1 }, headers);
    await api.ended(created.body.id);

    await restart('kill');

    const again = await api.post<Task>('/v1/tasks', { agent: 'echo', input: 1 }, headers);
    const other = await api.post('/v1/tasks', { agent: 'echo', input: 2 }, headers);
    const reader = await api.openStream(
      `/v1/tasks/${created.body.id}/events?after=${created.headers.get('Holdfast-Cursor')}`,
    );
    await reader.until(isType('task.completed'));
    await reader.until(isNamed('end'));
    expect(again.text).toBe(created.text);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expectProblem(other, 422, 'idempotency_mismatch');
  });

  test('SIGTERM fails no task: streams are told to come back, and the next start goes on with all of it', async () => {
    const running = await begun(api, { agent: 'holder' }, 'holder.begun');
    const waiting = await api.run('asker', SPEC);
    const reader = await api.openStream('/v1/events');

    await restart('stop');

    const told = (await reader.rest()).map(({ event, data }) => event ?? JSON.parse(data ?? '').type);
    expect(told.at(-1)).toBe('bye');
    expect(told).not.toContain('task.failed');
    const tasks = await unfinished(api);
    expect(tasks.tasks.map(({ id }) => id).sort()).toEqual([running.id, waiting.id].sort());
    expect(tasks.questions).toHaveLength(1);
    await api.cancel(running.id);
    await api.answer(tasks.questions[0]?.id ?? '', 'yes');
    expect((await api.ended(waiting.id)).status).toBe('completed');
    await allEnded();
  });

  test('a queued task whose agent is gone fails with unknown_agent', async () => {
    await begun(api, { agent: 'holder', concurrencyKey: 'gone' }, 'holder.begun');
    const queued = await api.createTask({ agent: 'echo', concurrencyKey: 'gone' });

    await restart('kill', []);

    expect(await api.ended(queued.id)).toMatchObject({ status: 'failed', error: { code: 'unknown_agent' } });
    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }), 422, 'unknown_agent');
  });
});

describe('§4 §9 a worker that dies', () => {
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ agents: TASK_AGENTS });
    api = createApi(server.url);
  });

  /** While no worker is up, new tasks are refused with 503. */
  beforeEach(async () => {
    while ((await api.get('/readyz')).status !== 200);
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test.each([
    ['exits with 0', 'worker_exited'],
    ['exits with 1', 'worker_exited'],
    ['throws in a timer', 'agent_error'],
    ['leaves a rejection unhandled', 'agent_error'],
    ['exhausts its memory', 'out_of_memory'],
    ['loops for ever', 'worker_unresponsive'],
  ])('its agent %s: the task fails with %s, the server lives, the next tasks run', async (how, code) => {
    const { id } = await api.createTask({ agent: 'killer', input: how });

    const task = await api.ended(id);
    const next = await Promise.all(Array.from({ length: 4 }, (_, at) => api.run('echo', at)));

    expect(task).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringMatching(/\w/) },
      output: null,
    });
    expect(task.error?.message).not.toMatch(/\n\s+at |\/work\/|\.ts:\d/);
    expect(next.map(({ output }) => output)).toEqual([0, 1, 2, 3]);
    expect((await api.eventsOf(id)).at(-1)?.type).toBe('task.failed');
    process.kill(server.pid, 0);
  });

  test('its neighbours go on: those that wait are answered, those that ran begin anew', async () => {
    const waiting = await Promise.all(Array.from({ length: 6 }, () => api.run('asker', SPEC)));
    const gated = await Promise.all(
      Array.from({ length: 4 }, () => begun(api, { agent: 'gated', input: 'lost' }, 'gated.reached')),
    );
    // One for each worker.
    const killers = await Promise.all(
      Array.from({ length: 2 }, () => api.createTask({ agent: 'killer', input: 'exits with 1' })),
    );
    await Promise.all(killers.map(({ id }) => api.ended(id)));

    for (const { id } of waiting) await api.answer((await api.pendingQuestion(id)).id, 'x');
    const answered = await Promise.all(waiting.map(({ id }) => api.ended(id)));
    await api.run('opener', { gate: 'lost', times: 4 });
    const through = await Promise.all(gated.map(({ id }) => api.ended(id)));

    expect(answered.map(({ status, attempt }) => [status, attempt])).toEqual(waiting.map(() => ['completed', 1]));
    expect(through.map(({ output }) => output)).toEqual(gated.map(() => 'through'));
    const log = await api.log();
    for (const { id, attempt } of through) {
      const own = log.filter(({ taskId }) => taskId === id).map(({ type }) => type);
      const lost = Array.from({ length: attempt - 1 }, () => ['task.recovered', 'task.started']).flat();
      expect(own).toEqual(['task.created', 'task.started', 'gated.reached', ...lost, 'task.completed']);
    }
    expect(through.some(({ attempt }) => attempt > 1)).toBe(true);
  });

  test('the server is ready again once its worker is replaced, and has no ghosts', async () => {
    const { id } = await api.createTask({ agent: 'killer', input: 'exits with 1' });
    await api.ended(id);

    while ((await api.get('/readyz')).status !== 200);

    expect((await api.run('echo')).status).toBe('completed');
    expect(await unfinished(api)).toEqual({ tasks: [], questions: [] });
  });
});
