import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Answer, type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, logEvents } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

let server: ServerProcess;
let api: Api;
let keys = 0;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

function newKey(): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': `key-${++keys}` };
}

function isReplayed({ headers }: Answer<unknown>): boolean {
  return headers.get('Idempotency-Replayed') === 'true';
}

/** The tasks whose metadata has this mark. */
async function tasksMarked(mark: string): Promise<Task[]> {
  const { body } = await api.get<Page<Task>>('/v1/tasks?limit=200');
  return body.items.filter(({ metadata }) => metadata.mark === mark);
}

async function ask(): Promise<Question> {
  const { id } = await api.run('asker', SPEC);
  return api.pendingQuestion(id);
}

describe('§2 Idempotency-Key: the same request again', () => {
  test('[Q9] [Q10] a create whose reply was lost gives that reply again and makes no second task', async () => {
    const headers = newKey();
    const body = { agent: 'echo', input: 1, metadata: { mark: 'twice' } };

    const first = await api.post<Task>('/v1/tasks', body, headers);
    const again = await api.post<Task>('/v1/tasks', body, headers);

    expect(first.status).toBe(202);
    expect(first.headers.has('Idempotency-Replayed')).toBe(false);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(await tasksMarked('twice')).toHaveLength(1);
  });

  test('the reply is that of the first request, also when the task has long ended', async () => {
    const headers = newKey();
    const first = await api.post<Task>('/v1/tasks', { agent: 'echo' }, headers);
    await api.settled(first.body.id);

    const again = await api.post<Task>('/v1/tasks', { agent: 'echo' }, headers);

    expect(again.text).toBe(first.text);
    expect(isReplayed(again)).toBe(true);
  });

  test('a stream from the cursor of a replayed reply misses nothing that came after the state it shows', async () => {
    const headers = newKey();
    const first = await api.post<Task>('/v1/tasks', { agent: 'echo' }, headers);
    await api.settled(first.body.id);

    const again = await api.post<Task>('/v1/tasks', { agent: 'echo' }, headers);
    const reader = await api.openStream(
      `/v1/tasks/${again.body.id}/events?after=${again.headers.get('Holdfast-Cursor')}`,
    );
    const missed = logEvents(await reader.rest());

    expect(again.body.status).toBe('queued');
    expect(missed.map(({ type }) => type)).toEqual(['task.started', 'task.completed']);
  });

  test('a replay is given though the input could not be checked any more', async () => {
    const headers = newKey();
    const body = { agent: 'odd-schema', input: { how: 'gate', gate: 'shut' } };
    const [first] = await Promise.all([
      api.post<Task>('/v1/tasks', body, headers),
      // The schema is asked twice: for the request, and when the task begins. Then the gate is shut.
      api.run('opener', { gate: 'shut', times: 2 }),
    ]);

    const again = await api.post<Task>('/v1/tasks', body, headers);

    expect(again.text).toBe(first.text);
    expect(isReplayed(again)).toBe(true);
  });

  test('wait is no part of the request: a replay waits anew and shows the task as it then is', async () => {
    const headers = newKey();
    const body = { agent: 'echo', input: 'now' };
    const first = await api.post<Task>('/v1/tasks', body, headers);

    const waited = await api.post<Task>('/v1/tasks?wait=60', body, headers);
    const looked = await api.post<Task>('/v1/tasks?wait=0', body, headers);

    expect(first.body.status).toBe('queued');
    for (const replay of [waited, looked]) {
      expect(replay.status).toBe(200);
      expect(replay.body).toMatchObject({ id: first.body.id, status: 'completed', output: 'now' });
      expect(isReplayed(replay)).toBe(true);
    }
  });

  test('the key is taken when the effect commits, though the response still waits', async () => {
    const headers = newKey();
    const body = { agent: 'asker', input: SPEC, metadata: { mark: 'waits' } };
    const reader = await api.openStream('/v1/events?after=latest');
    const abort = new AbortController();
    const lost = fetch(`${api.url}/v1/tasks?wait=60`, {
      method: 'POST',
      body: JSON.stringify({ agent: 'holder', metadata: { mark: 'lost' } }),
      headers: { 'Content-Type': 'application/json', ...headers },
      signal: abort.signal,
    }).catch(() => null);
    await reader.until(isType('holder.begun'));
    reader.close();
    abort.abort();
    await lost;

    const again = await api.post<Task>('/v1/tasks', { agent: 'holder', metadata: { mark: 'lost' } }, headers);
    const other = await api.post('/v1/tasks', body, headers);
    await api.cancel(again.body.id);

    expect(again.status).toBe(202);
    expect(isReplayed(again)).toBe(true);
    expectProblem(other, 422, 'idempotency_mismatch');
    expect(await tasksMarked('lost')).toHaveLength(1);
  });

  test('equal JSON is the same request, whatever the order of its keys and the way it is written', async () => {
    const headers = newKey();
    const texts = [
      '{"agent":"echo","input":{"a":[1,{"x":1,"y":"ü"}],"b":null}}',
      '{ "input": {"b": null, "a": [1.0, {"y": "\\u00fc", "x": 1e0}]},\n"agent": "echo" }',
    ];

    const [first, again] = [
      await api.post('/v1/tasks', texts[0], headers),
      await api.post('/v1/tasks', texts[1], headers),
    ];

    expect(again.text).toBe(first.text);
    expect(isReplayed(again)).toBe(true);
  });

  test.each([
    ['answers', { answer: 'blue' }],
    ['decline', { reason: 'no wish' }],
  ])('[Q9] %s of a question that were sent until they arrived resolve it once', async (verb, body) => {
    const question = await ask();
    const headers = newKey();
    const path = `/v1/questions/${question.id}/${verb}`;

    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await api.post<Question>(path, body, headers));

    expect(answers.map(isReplayed)).toEqual([false, true, true, true, true]);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const events = await api.eventsOf(question.taskId);
    expect(events.filter(({ type }) => /^question\.(answered|declined)$/.test(type))).toHaveLength(1);
  });

  test('a cancel that was sent twice cancels once', async () => {
    const { id } = await api.createTask({ agent: 'holder' });
    const headers = newKey();

    const first = await api.post<Task>(`/v1/tasks/${id}/cancel`, { reason: 'enough' }, headers);
    const again = await api.post<Task>(`/v1/tasks/${id}/cancel`, { reason: 'enough' }, headers);

    expect([first, again].map(isReplayed)).toEqual([false, true]);
    expect(again.text).toBe(first.text);
    expect((await api.eventsOf(id)).filter(({ type }) => type === 'task.cancelled')).toHaveLength(1);
  });

  test('twenty at once with one key make one task', async () => {
    const headers = newKey();
    const body = { agent: 'echo', metadata: { mark: 'rush' } };

    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post<Task>('/v1/tasks', body, headers)));

    const [made] = await tasksMarked('rush');
    expect(await tasksMarked('rush')).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 202 && !isReplayed(answer))).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 202) expect(answer.body.id).toBe(made?.id);
      else expectProblem(answer, 409, 'idempotency_in_progress');
    }
  });
});

describe('§2 Idempotency-Key: another request', () => {
  test.each([
    ['another value', { agent: 'echo', input: [1, 3] }],
    ['another order of an array', { agent: 'echo', input: [2, 1] }],
    ['another field', { agent: 'echo', input: [1, 2], priority: 1 }],
    ['a default written out', { agent: 'echo', input: [1, 2], metadata: {} }],
  ])('%s is 422 and does nothing', async (_, body) => {
    const headers = newKey();
    await api.post('/v1/tasks', { agent: 'echo', input: [1, 2] }, headers);

    const refused = await api.post('/v1/tasks', body, headers);

    expectProblem(refused, 422, 'idempotency_mismatch');
  });

  test('the same body at another path is 422', async () => {
    const [one, two] = [await ask(), await ask()];
    const headers = newKey();
    await api.answer(one.id, 'yes', headers);

    const refused = await api.answer(two.id, 'yes', headers);
    const declined = await api.post(`/v1/questions/${one.id}/decline`, { answer: 'yes' }, newKey());

    expectProblem(refused, 422, 'idempotency_mismatch');
    expectProblem(declined, 400, 'invalid_request');
    expect((await api.question(two.id)).status).toBe('pending');
  });

  test('the same body by another verb is 422', async () => {
    const { id } = await ask();
    const headers = newKey();
    await api.post(`/v1/questions/${id}/decline`, {}, headers);
    const { id: holder } = await api.createTask({ agent: 'holder' });

    const refused = await api.post(`/v1/tasks/${holder}/cancel`, {}, headers);

    expectProblem(refused, 422, 'idempotency_mismatch');
    expect((await api.cancel(holder)).status).toBe(200);
  });
});

describe('§2 Idempotency-Key: while the first is under way', () => {
  test('the same and another request are 409 with Retry-After: 1, and the first goes through', async () => {
    const headers = newKey();
    const body = { agent: 'odd-schema', input: { how: 'gate', gate: 'under-way' } };
    const both = [api.post<Task>('/v1/tasks', body, headers), api.post<Task>('/v1/tasks', body, headers)];

    const refused = await Promise.race(both);
    const other = await api.post('/v1/tasks', { agent: 'echo' }, headers);
    // The schema is asked twice: for the request, and when the task begins.
    await api.run('opener', { gate: 'under-way', times: 2 });
    const answers = await Promise.all(both);
    const created = answers.find(({ status }) => status === 202);

    for (const early of [refused, other]) {
      expectProblem(early, 409, 'idempotency_in_progress');
      expect(early.headers.get('Retry-After')).toBe('1');
    }
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect((await api.settled(created?.body.id ?? '')).status).toBe('completed');
  });
});

describe('§2 Idempotency-Key: a refused request', () => {
  test.each([
    ['400', { agent: 'greeter', typo: 1 }, 400],
    ['422 for its input', { agent: 'greeter', input: {} }, 422],
    ['422 for its agent', { agent: 'nobody' }, 422],
    ['503', { agent: 'odd-schema', input: { how: 'hangs' } }, 503],
  ])('%s does not use the key up', async (_, bad, status) => {
    const headers = newKey();
    const refused = await api.post('/v1/tasks', bad, headers);

    const good = await api.post('/v1/tasks', { agent: 'greeter', input: { name: 'Ada' } }, headers);

    expect(refused.status).toBe(status);
    expect(good.status).toBe(202);
    expect(isReplayed(good)).toBe(false);
  });

  test('404, 409 and 422 of an answer do not use the key up', async () => {
    const [resolved, open] = [await ask(), await ask()];
    await api.answer(resolved.id, 'first');
    const headers = newKey();

    const refused = [
      await api.answer(`qst_${'0'.repeat(26)}`, 'late', headers),
      await api.answer(resolved.id, 'late', headers),
      await api.answer(open.id, 7, headers),
    ];
    const good = await api.answer(open.id, 'in time', headers);

    expect(refused.map(({ status }) => status)).toEqual([404, 409, 422]);
    expect(good.status).toBe(200);
    expect(isReplayed(good)).toBe(false);
  });

  test('409 of a cancel does not use the key up', async () => {
    const done = await api.run('echo');
    const headers = newKey();

    const refused = await api.post(`/v1/tasks/${done.id}/cancel`, {}, headers);
    const good = await api.post('/v1/tasks', { agent: 'echo' }, headers);

    expectProblem(refused, 409, 'task_finished');
    expect(good.status).toBe(202);
  });
});

describe('§2 Idempotency-Key: its form', () => {
  test.each([
    ['is empty', ''],
    ['has a space', 'a b'],
    ['has 256 characters', 'k'.repeat(256)],
    ['has a letter outside ASCII', 'schlüssel'],
    ['has a tab', 'a\tb'],
  ])('a key that %s is 400 at every POST', async (_, key) => {
    const question = await ask();
    const headers = { 'Idempotency-Key': key };

    const answers = [
      await api.post('/v1/tasks', { agent: 'echo' }, headers),
      await api.post(`/v1/tasks/${question.taskId}/cancel`, {}, headers),
      await api.post(`/v1/questions/${question.id}/answers`, { answer: 'x' }, headers),
      await api.post(`/v1/questions/${question.id}/decline`, {}, headers),
    ];

    for (const refused of answers) expectProblem(refused, 400, 'invalid_request');
    expect((await api.question(question.id)).status).toBe('pending');
  });

  test('two keys in one request are 400', async () => {
    const headers: [string, string][] = [
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', 'one'],
      ['Idempotency-Key', 'two'],
    ];

    const refused = await api.send('/v1/tasks', { method: 'POST', body: '{"agent":"echo"}', headers });

    expectProblem(refused, 400, 'invalid_request');
  });

  test('a key of 255 characters, and every visible one of ASCII, is taken', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');

    for (const key of ['k'.repeat(255), visible]) {
      const first = await api.post('/v1/tasks', { agent: 'echo' }, { 'Idempotency-Key': key });
      const again = await api.post('/v1/tasks', { agent: 'echo' }, { 'Idempotency-Key': key });

      expect([first, again].map(({ status }) => status)).toEqual([202, 202]);
      expect(isReplayed(again)).toBe(true);
    }
  });

  test('keys are told apart by their case', async () => {
    const lower = await api.post<Task>('/v1/tasks', { agent: 'echo' }, { 'Idempotency-Key': 'case' });
    const upper = await api.post<Task>('/v1/tasks', { agent: 'echo' }, { 'Idempotency-Key': 'CASE' });

    expect(upper.body.id).not.toBe(lower.body.id);
  });
});
