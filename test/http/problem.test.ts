import { expect, test } from 'vitest';
import { type ErrorCode, HoldfastError } from '../../src/model/error.ts';
import { createAppDouble, jsonOf, post, QUESTION, send, TASK, UNKNOWN_TASK } from './app-double.ts';

const CODES: [ErrorCode, number, RegExp][] = [
  ['task_finished', 409, /^none$/],
  ['question_resolved', 409, /^none$/],
  ['idempotency_in_progress', 409, /^1$/],
  ['invalid_input', 422, /^none$/],
  ['unknown_agent', 422, /^none$/],
  ['invalid_answer', 422, /^none$/],
  ['idempotency_mismatch', 422, /^none$/],
  ['overloaded', 503, /^[1-5]$/],
  ['draining', 503, /^5$/],
  ['storage_full', 503, /^30$/],
];

test.each(CODES)('answers %s with %i as problem+json', async (code, status, retryAfter) => {
  const { app, failWith } = createAppDouble();
  failWith(new HoldfastError(code, 'What people read.'));

  const response = await post(app, '/v1/tasks', { agent: 'echo' });

  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  expect(response.headers.get('Retry-After') ?? 'none').toMatch(retryAfter);
  expect(await response.json()).toEqual({
    type: `urn:holdfast:problem:${code}`,
    title: expect.any(String),
    status,
    detail: 'What people read.',
    code,
  });
});

test('sends along what the error knows', async () => {
  const { app, failWith } = createAppDouble();
  const details = {
    errors: [{ path: '/x', message: 'No.' }],
    question: QUESTION,
    task: TASK,
    reason: 'ahead',
    resumeAfter: '0',
  } as const;
  failWith(new HoldfastError('question_resolved', 'Too late.', { ...details, errors: [...details.errors] }));

  const response = await post(app, `/v1/questions/${QUESTION.id}/answers`, { answer: 1 });

  expect(await response.json()).toMatchObject(details);
});

test.each([new Error('SQLITE_IOERR at /var/lib/secret.db'), new TypeError('x is not a function')])(
  'hides %s from the client and logs it',
  async (error) => {
    const { app, failWith, logged } = createAppDouble();
    failWith(error);

    const response = await post(app, '/v1/tasks', { agent: 'echo' });
    const text = await response.text();

    expect(response.status).toBe(500);
    expect(JSON.parse(text).code).toBe('internal');
    expect(text).not.toContain(error.message);
    expect(text).not.toContain('at ');
    const line = logged.find((each) => each.includes('request failed')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      err: { message: error.message },
      requestId: response.headers.get('X-Request-Id'),
    });
  },
);

test('hides the message of an internal error that the engine threw', async () => {
  const { app, failWith } = createAppDouble();
  failWith(new HoldfastError('internal', 'The id of a new task is taken.'));

  const response = await post(app, '/v1/tasks', { agent: 'echo' });

  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('taken');
});

test.each([
  '/v1',
  '/v2/tasks',
  '/v1/tasks/',
  '/v1/tasks/%',
  '/v1/tasks/%E0%A4%A',
  '/v1/tasks/task_%00',
  '/v1/tasks/..%2F..%2Fetc',
  `/v1/tasks/${UNKNOWN_TASK}`,
  `/v1/tasks/${TASK.id.toUpperCase()}`,
  `/v1/tasks/${'x'.repeat(10_000)}`,
  `/v1/tasks/${QUESTION.id}`,
  `/v1/questions/${TASK.id}`,
  '/docs/package.json',
  '/docs/..%2Fpackage.json',
])('answers %s with 404 as problem+json', async (path) => {
  const { app } = createAppDouble();

  const response = await send(app, path);

  expect(response.status).toBe(404);
  expect(await jsonOf(response)).toMatchObject({ code: 'not_found', status: 404 });
});

test('checks in the order 404, 415, 413, 400', async () => {
  const { app, asked } = createAppDouble();
  const cancel = (id: string) => `/v1/tasks/${id}/cancel?nonsense=1`;
  const text = { 'Content-Type': 'text/plain' };
  const large = 'x'.repeat(300_000);

  const statuses = [
    await post(app, cancel(UNKNOWN_TASK), large, text),
    await post(app, cancel('nonsense'), large, text),
    await post(app, cancel(TASK.id), large, text),
    await post(app, cancel(TASK.id), large),
    await post(app, cancel(TASK.id), {}, { 'Idempotency-Key': '' }),
    await send(app, `/v1/tasks/${UNKNOWN_TASK}?nonsense=1`),
  ].map(({ status }) => status);

  expect(statuses).toEqual([404, 404, 415, 413, 400, 404]);
  expect(asked.cancelled).toHaveLength(0);
});

test('leaves the judgement of a good body to the engine', async () => {
  const { app, failWith } = createAppDouble();
  failWith(new HoldfastError('task_finished', 'The task is already completed.'));

  const malformed = await post(app, `/v1/tasks/${TASK.id}/cancel`, { why: 1 });
  const good = await post(app, `/v1/tasks/${TASK.id}/cancel`, {});

  expect([malformed.status, good.status]).toEqual([400, 409]);
});
