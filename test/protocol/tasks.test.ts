import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem, type Page, seqOf, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** The newest task and event: what a refused request must leave as it was. */
async function newest(): Promise<unknown> {
  const { headers, body } = await api.get<Page<Task>>('/v1/tasks?limit=1');
  return { cursor: headers.get('Holdfast-Cursor'), id: body.items[0]?.id };
}

async function idsOf(query: string): Promise<string[]> {
  const { body } = await api.get<Page<Task>>(`/v1/tasks?limit=200&${query}`);
  return body.items.map(({ id }) => id);
}

describe('§4 create', () => {
  test('[T3] 202 has the whole task and its Location', async () => {
    const created = await api.post<Task>('/v1/tasks', { agent: 'echo', input: { city: 'Lisbon' } });

    expect(created.status).toBe(202);
    expect(created.headers.get('Location')).toBe(`/v1/tasks/${created.body.id}`);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^task_/),
      agent: 'echo',
      status: 'queued',
      conversationId: null,
      parentId: null,
      rootId: created.body.id,
      retryOf: null,
      input: { city: 'Lisbon' },
      output: null,
      error: null,
      progress: null,
      attempt: 0,
      pendingQuestionCount: 0,
      metadata: {},
      priority: 0,
      concurrencyKey: null,
      timeoutMs: 1_800_000,
      maxAttempts: 1,
      runAt: null,
      createdAt: expect.any(String),
      startedAt: null,
      finishedAt: null,
      cursor: { before: expect.any(String), last: expect.any(String) },
    });
  });

  test('[T3] a task that has ended shows its output, its attempt and its times in order', async () => {
    const task = await api.run('echo', [1, 'two', null]);

    expect(task).toMatchObject({ status: 'completed', output: [1, 'two', null], error: null, attempt: 1 });
    const times = [task.createdAt, task.startedAt ?? '', task.finishedAt ?? ''];
    expect(times).toEqual(times.toSorted());
    expect(await api.task(task.id)).toEqual(task);
  });

  test.each([[false], [0], [''], [[]], [null], [{}]])('the input %j is kept as it is', async (input) => {
    const task = await api.run('echo', input);

    expect({ input: task.input, output: task.output }).toEqual({ input, output: input });
  });

  test('metadata, priority and concurrencyKey come back as they were given', async () => {
    const given = { metadata: { user: { id: 7 }, tags: [] }, priority: -100, concurrencyKey: 'user 7 / ü' };

    expect(await api.run('echo', 1, given)).toMatchObject(given);
  });

  test.each([
    ['priority', 101],
    ['priority', -101],
    ['priority', 1.5],
    ['priority', '1'],
    ['timeoutMs', 0],
    ['timeoutMs', -1],
    ['timeoutMs', null],
    ['timeoutMs', 1.5],
    ['concurrencyKey', ''],
    ['concurrencyKey', 7],
    ['metadata', []],
    ['metadata', null],
    ['metadata', { big: 'x'.repeat(16 * 1024) }],
    ['agent', null],
    ['agent', ''],
    ['agent', 'no such name'],
  ])('%s: %j is 400 and creates nothing', async (field, value) => {
    const before = await newest();

    const refused = await api.post('/v1/tasks', { agent: 'echo', [field]: value });

    expect(expectProblem(refused, 400, 'invalid_request').errors).toMatchObject([{ path: `/${field}` }]);
    expect(await newest()).toEqual(before);
  });

  test('an agent that nobody has is 422 and creates nothing', async () => {
    const before = await newest();

    expectProblem(await api.post('/v1/tasks', { agent: 'nobody', input: 1 }), 422, 'unknown_agent');
    expect(await newest()).toEqual(before);
  });
});

describe('§4 input', () => {
  test('what the schema refuses is 422 with what is wrong where, and creates nothing', async () => {
    const before = await newest();

    const refused = await api.post('/v1/tasks', { agent: 'greeter', input: { name: '', formal: 'yes' } });

    const { errors = [] } = expectProblem(refused, 422, 'invalid_input');
    expect(errors.map(({ path }) => path).sort()).toEqual(['/formal', '/name']);
    for (const { message } of errors) expect(message).toMatch(/\w/);
    expect(await newest()).toEqual(before);
  });

  test('the agent is given what the schema made of the input, and the task shows what was sent', async () => {
    const task = await api.run('greeter', { name: 'Ada' });

    expect(task).toMatchObject({ input: { name: 'Ada' }, output: 'Hi Ada!' });
  });

  test('a missing input is null to the schema', async () => {
    expectProblem(await api.post('/v1/tasks', { agent: 'greeter' }), 422, 'invalid_input');
  });

  test('a schema may take its time', async () => {
    expect(await api.run('odd-schema', { how: 'later' })).toMatchObject({ status: 'completed', output: 'later' });
  });

  test('the issues of any Standard Schema are told by JSON Pointers', async () => {
    const refused = await api.post('/v1/tasks', { agent: 'odd-schema', input: { how: 'refuses' } });

    const { errors } = expectProblem(refused, 422, 'invalid_input');
    expect(errors).toEqual([{ path: '/how/a~1b', message: 'not like this' }]);
  });

  test('a schema that throws has refused the input', async () => {
    const refused = await api.post('/v1/tasks', { agent: 'odd-schema', input: { how: 'throws' } });

    expectProblem(refused, 422, 'invalid_input');
  });

  test('an input that has become wrong when the task begins fails it with invalid_input', async () => {
    const first = await api.createTask({ agent: 'holder', concurrencyKey: 'stale' });
    const input = { how: 'until', at: Date.now() + 500 };
    const stale = await api.createTask({ agent: 'odd-schema', input, concurrencyKey: 'stale' });
    await api.run('holder', null, { timeoutMs: 1000 });

    await api.cancel(first.id);

    const task = await api.ended(stale.id);
    expect(task).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_input', message: '/how/a~1b: not like this' },
    });
  });

  test.each(['blocks', 'hangs'])(
    'a schema that %s for more than 2 s is 503 with Retry-After, while everything else is served',
    async (how) => {
      const before = await newest();
      const slow = api.post('/v1/tasks', { agent: 'odd-schema', input: { how } });

      const meanwhile = await Promise.race([slow, api.get('/v1/tasks?limit=1')]);
      const refused = await slow;

      expect(meanwhile.status).toBe(200);
      expectProblem(refused, 503, 'overloaded');
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect(await newest()).toEqual(before);
      expect((await api.run('echo')).status).toBe('completed');
    },
  );
});

describe('§4 wait', () => {
  test('[T7] POST with wait is 200 with the ended task: plain REST is enough', async () => {
    const created = await api.post<Task>('/v1/tasks?wait=60', { agent: 'greeter', input: { name: 'Ada' } });

    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({ status: 'completed', output: 'Hi Ada!' });
    expect(created.headers.get('Location')).toBe(`/v1/tasks/${created.body.id}`);
    expect(await idsOf('agent=greeter')).toContain(created.body.id);
  });

  test('POST with wait is 200 as soon as the task waits for people', async () => {
    const created = await api.post<Task>('/v1/tasks?wait=60', { agent: 'asker', input: SPEC });

    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
  });

  test('POST with wait is 202 when the task still runs after that time', async () => {
    const created = await api.post<Task>('/v1/tasks?wait=0.2', { agent: 'holder' });
    await api.cancel(created.body.id);

    expect(created.status).toBe(202);
    expect(created.body.status).toBe('running');
  });

  test('wait=0 does not wait', async () => {
    const { body: first } = await api.post<Task>('/v1/tasks?wait=0', { agent: 'holder' });
    const read = await api.get<Task>(`/v1/tasks/${first.id}?wait=0`);
    await api.cancel(first.id);

    for (const { status } of [first, read.body]) expect(['queued', 'running']).toContain(status);
  });

  test('GET with wait holds until the task ends, and not longer', async () => {
    const { id } = await api.createTask({ agent: 'gated', input: 'held' });
    const held = api.get<Task>(`/v1/tasks/${id}?wait=60`);

    const meanwhile = await Promise.race([held, api.get<Task>(`/v1/tasks/${id}?wait=0.3`)]);
    await api.run('opener', { gate: 'held', times: 1 });

    expect(meanwhile.body.status).toBe('running');
    expect((await held).body).toMatchObject({ status: 'completed', output: 'through' });
  });

  test('GET with wait answers at once when the task has ended or waits', async () => {
    const ended = await api.run('echo');
    const waiting = await api.run('asker', SPEC);
    const begun = performance.now();

    const statuses = [await api.settled(ended.id), await api.settled(waiting.id)].map(({ status }) => status);

    expect(statuses).toEqual(['completed', 'waiting']);
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  test('GET with wait ends when the task is cancelled or fails', async () => {
    const { id } = await api.createTask({ agent: 'holder' });
    const held = api.settled(id);
    await api.cancel(id);

    expect((await held).status).toBe('cancelled');
    expect((await api.run('thrower', 'error')).status).toBe('failed');
  });

  test.each(['-1', '61', '60.5', 'x', '', '1s', '1e1', 'Infinity', 'NaN'])('wait=%s is 400', async (wait) => {
    const { id } = await api.run('echo');

    for (const refused of [
      await api.get(`/v1/tasks/${id}?wait=${wait}`),
      await api.post(`/v1/tasks?wait=${wait}`, { agent: 'echo' }),
    ]) {
      expect(expectProblem(refused, 400, 'invalid_request').errors).toMatchObject([{ path: '/wait' }]);
    }
  });

  test('[T2] a client that leaves in the middle of its wait changes nothing about the task', async () => {
    const reader = await api.openStream('/v1/events?after=latest');
    const abort = new AbortController();
    const left = fetch(`${api.url}/v1/tasks?wait=60`, {
      method: 'POST',
      body: JSON.stringify({ agent: 'gated', input: 'left' }),
      headers: { 'Content-Type': 'application/json' },
      signal: abort.signal,
    }).catch((error) => error.name);
    const reached = await reader.until(isType('gated.reached'));
    const { taskId } = JSON.parse(reached.data ?? '');

    abort.abort();
    expect(await left).toBe('AbortError');
    reader.close();
    await api.run('opener', { gate: 'left', times: 1 });

    expect(await api.settled(taskId)).toMatchObject({ status: 'completed', output: 'through' });
  });
});

describe('§4 list', () => {
  let running: Task;
  let waiting: Task;
  let completed: Task;
  let failed: Task;
  let cancelled: Task;

  beforeAll(async () => {
    running = await api.createTask({ agent: 'holder' });
    waiting = await api.run('asker', SPEC);
    completed = await api.run('echo');
    failed = await api.run('thrower', 'error');
    cancelled = await api.createTask({ agent: 'holder' });
    await api.cancel(cancelled.id);
    const reader = await api.openStream(`/v1/tasks/${running.id}/events`);
    await reader.until(isType('holder.begun'));
    reader.close();
  });

  afterAll(async () => {
    await api.cancel(running.id);
  });

  test('status lists the tasks that have it, and no others', async () => {
    for (const task of [running, waiting, completed, failed, cancelled]) {
      const { status } = await api.task(task.id);
      const { body } = await api.get<Page<Task>>(`/v1/tasks?status=${status}&limit=200`);

      expect(body.items.map(({ id }) => id)).toContain(task.id);
      expect(new Set(body.items.map((item) => item.status))).toEqual(new Set([status]));
    }
  });

  test('status may repeat', async () => {
    const ids = await idsOf('status=failed&status=cancelled');

    expect(ids).toEqual(expect.arrayContaining([failed.id, cancelled.id]));
    expect(ids).not.toContain(completed.id);
  });

  test('unfinished is queued, running and waiting', async () => {
    const queued = await api.createTask({ agent: 'holder', concurrencyKey: 'list' });
    const behind = await api.createTask({ agent: 'holder', concurrencyKey: 'list' });

    const ids = await idsOf('status=unfinished');
    const mixed = await idsOf('status=unfinished&status=failed');
    for (const { id } of [behind, queued]) await api.cancel(id);

    expect(ids).toEqual(expect.arrayContaining([running.id, waiting.id, queued.id, behind.id]));
    for (const { id } of [completed, failed, cancelled]) expect(ids).not.toContain(id);
    expect(mixed).toEqual(expect.arrayContaining([running.id, failed.id]));
  });

  test('agent and status narrow the list together', async () => {
    const { id } = await api.run('greeter', { name: 'Ada' });

    expect(await idsOf('agent=greeter&status=completed')).toContain(id);
    expect(await idsOf('agent=greeter&status=failed')).toEqual([]);
    expect(await idsOf('agent=nobody')).toEqual([]);
  });

  test.each(['status=done', 'status=', 'status=COMPLETED', 'agent=', 'agent=a%20b', 'order=up', 'order='])(
    '?%s is 400',
    async (query) => {
      expectProblem(await api.get(`/v1/tasks?${query}`), 400, 'invalid_request');
    },
  );

  test('an item of a list is the task as GET shows it', async () => {
    const { body } = await api.get<Page<Task>>('/v1/tasks?status=failed&limit=1');

    expect(body.items[0]).toEqual(await api.task(body.items[0]?.id ?? ''));
  });
});

describe('§4 §8 events', () => {
  test('a task is created, started and completed, in this order, with what the protocol says of each', async () => {
    const { id } = await api.run('echo', { x: 1 });

    const events = await api.eventsOf(id);

    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'task.created', data: { agent: 'echo', input: { x: 1 }, parentId: null, retryOf: null } },
      { type: 'task.started', data: { attempt: 1 } },
      { type: 'task.completed', data: { output: { x: 1 } } },
    ]);
    for (const event of events) expect(event).toMatchObject({ taskId: id, conversationId: null });
  });

  test('[T10] progress is an event each time, and the newest stands in the task', async () => {
    const task = await api.run('counter', 3);

    const told = (await api.eventsOf(task.id)).filter(({ type }) => type === 'task.progress');
    expect(told.map(({ data }) => data)).toEqual([
      { fraction: 1 / 3, note: 'step 1' },
      { fraction: 2 / 3, note: 'step 2' },
      { fraction: 1, note: 'step 3' },
    ]);
    expect(task.progress).toEqual({ fraction: 1, note: 'step 3' });
  });

  test.each([
    'x',
    'Upper.case',
    'no dots',
    '1.x',
    'a.',
    '.a',
    'a..b',
    'ü.x',
    `a.${'x'.repeat(63)}`,
    'task.mine',
    'question.asked',
    'message.x',
    'conversation.x',
    'step.x',
    'tool.x',
    'task.completed',
  ])('an agent cannot emit %s: it is told so, and nothing is appended', async (type) => {
    const task = await api.run('emitter', [{ type }]);

    expect(task.output).toEqual(['TypeError']);
    expect(await api.eventsOf(task.id)).toHaveLength(3);
  });

  test.each(['a.b', 'trip.flights-found', 'a_b.c-d.0', `a.${'x'.repeat(62)}`, 'tasks.x', 'end.x'])(
    'an agent can emit %s',
    async (type) => {
      const task = await api.run('emitter', [{ type }]);

      expect(task.output).toEqual([null]);
      expect((await api.eventsOf(task.id)).map((event) => event.type)).toContain(type);
    },
  );

  test('the data of an event may have 64 KiB and not a byte more', async () => {
    const task = await api.run('emitter', [
      { type: 'just.fits', bytes: 64 * 1024 },
      { type: 'too.large', bytes: 64 * 1024 + 1 },
    ]);

    expect(task.output).toEqual([null, 'TypeError']);
    const types = (await api.eventsOf(task.id)).map(({ type }) => type);
    expect(types).toEqual(['task.created', 'task.started', 'just.fits', 'task.completed']);
  });

  test('seq and time only ever rise, and the terminal event is the last', async () => {
    const { id } = await api.run('counter', 20);

    const events = await api.eventsOf(id);

    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted());
    expect(seqOf((await api.task(id)).cursor.last)).toBe(seqs.at(-1));
  });
});

describe('§4 timeoutMs', () => {
  test('[T9] a task that runs for longer fails with timeout', async () => {
    const task = await api.run('holder', null, { timeoutMs: 200 });

    expect(task).toMatchObject({
      status: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('200') },
    });
    const events = await api.eventsOf(task.id);
    expect(events.at(-1)).toMatchObject({ type: 'task.failed', data: { error: task.error } });
    expect(Date.parse(task.finishedAt ?? '') - Date.parse(task.startedAt ?? '')).toBeGreaterThanOrEqual(200);
  });

  test('the time of all its stretches counts together', async () => {
    const spec = { ...SPEC, timeoutMs: 0 };

    const { id } = await api.createTask({ agent: 'stretches', input: { ms: 250, times: 5, spec }, timeoutMs: 600 });

    expect(await api.ended(id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
  });

  test('the time in which it waits for people does not count', async () => {
    const spec = { ...SPEC, timeoutMs: 1200 };
    const reader = await api.openStream('/v1/events?after=latest');
    const { id } = await api.createTask({ agent: 'asker', input: spec, timeoutMs: 1000 });

    await reader.until(isType('task.completed'));
    reader.close();

    const task = await api.task(id);
    expect(task).toMatchObject({ status: 'completed', output: { status: 'expired' } });
    expect(Date.parse(task.finishedAt ?? '') - Date.parse(task.startedAt ?? '')).toBeGreaterThan(1000);
  });

  test('the time in which it sleeps does not count', async () => {
    const reader = await api.openStream('/v1/events?after=latest');
    const { id } = await api.createTask({ agent: 'napper', input: 1200, timeoutMs: 1000 });

    const waiting = await reader.until(isType('task.waiting'));
    await reader.until(isType('task.completed'));
    reader.close();

    expect(JSON.parse(waiting.data ?? '').data).toMatchObject({ for: ['timer'], questionIds: [] });
    expect((await api.task(id)).status).toBe('completed');
  });

  test('the time in the queue does not count', async () => {
    const blocker = await api.createTask({ agent: 'gated', input: 'queue-time', concurrencyKey: 'queue-time' });
    const behind = await api.createTask({ agent: 'echo', concurrencyKey: 'queue-time', timeoutMs: 1 });
    const timed = await api.run('holder', null, { timeoutMs: 100 });

    await api.run('opener', { gate: 'queue-time', times: 1 });

    expect((await api.settled(blocker.id)).status).toBe('completed');
    expect(timed.error?.code).toBe('timeout');
    // It may be too slow for 1 ms once it runs, but not before.
    const end = await api.settled(behind.id);
    expect(Date.parse(end.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(timed.finishedAt ?? ''));
  });

  test('the questions of a task that has used up its time are cancelled with it', async () => {
    const { id } = await api.createTask({
      agent: 'half-waiting',
      input: { gate: 'never', spec: SPEC },
      timeoutMs: 300,
    });

    const task = await api.settled(id);

    expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' }, pendingQuestionCount: 0 });
    const { body } = await api.get<Page<Question>>(`/v1/questions?taskId=${id}`);
    expect(body.items).toMatchObject([{ status: 'cancelled', reason: 'task_finished', resolvedBy: null }]);
  });
});
