import { expect, test } from 'vitest';
import { createAppDouble, NEW_TASK, post, QUESTION, send, TASK } from './app-double.ts';

function withKey(key: string): Record<string, string> {
  return { 'Idempotency-Key': key };
}

test.each(['', 'two words', 'ünï', '\u007f', 'x'.repeat(256)])('refuses the key %j', async (key) => {
  const { app, asked } = createAppDouble();

  const response = await post(app, '/v1/tasks', { agent: 'echo' }, withKey(key));

  expect(response.status).toBe(400);
  expect(asked.created).toHaveLength(0);
});

test.each(['k', 'x'.repeat(255), '!~"(),/:;<=>?@[\\]{}'])('takes the key %s', async (key) => {
  const { app, asked } = createAppDouble();

  await post(app, '/v1/tasks', { agent: 'echo' }, withKey(key));

  expect(asked.keys).toEqual([{ key, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test('names equal requests alike, whatever the order of fields, the spaces and the wait', async () => {
  const { app, asked } = createAppDouble();

  await post(app, '/v1/tasks', '{"agent":"echo","input":{"a":1,"b":[2.0]}}', withKey('k'));
  await post(app, '/v1/tasks?wait=1', ' {"input":{"b":[2],"a":1}, "agent":"echo"}', withKey('k'));

  expect(asked.keys[1]).toEqual(asked.keys[0]);
});

test('tells requests apart by path and by body, __proto__ and null included', async () => {
  const { app, asked } = createAppDouble();
  const bodies = ['{}', '{"reason":null}', '{"reason":"x"}'];

  for (const body of bodies) await post(app, `/v1/tasks/${TASK.id}/cancel`, body, withKey('k'));
  for (const body of bodies) await post(app, `/v1/questions/${QUESTION.id}/decline`, body, withKey('k'));
  await post(app, '/v1/tasks', '{"agent":"echo","input":{}}', withKey('k'));
  await post(app, '/v1/tasks', '{"agent":"echo","input":{"__proto__":1}}', withKey('k'));

  expect(new Set(asked.keys.map((use) => use?.fingerprint)).size).toBe(8);
});

test('takes a body that was left out for an empty one', async () => {
  const { app, asked } = createAppDouble();

  await send(app, `/v1/tasks/${TASK.id}/cancel`, { method: 'POST', headers: withKey('k') });
  await post(app, `/v1/tasks/${TASK.id}/cancel`, {}, withKey('k'));

  expect(asked.keys[1]).toEqual(asked.keys[0]);
});

test('marks what was done before, and only that', async () => {
  const { app } = createAppDouble();

  const first = await post(app, '/v1/tasks', { agent: 'echo' }, withKey('k'));
  const again = await post(app, '/v1/tasks', { agent: 'echo' }, withKey('k'));

  expect(first.headers.get('Idempotency-Replayed')).toBeNull();
  expect(again.headers.get('Idempotency-Replayed')).toBe('true');
  expect(again.status).toBe(202);
  expect(again.headers.get('Location')).toBe(`/v1/tasks/${TASK.id}`);
  expect(await again.text()).toBe(await first.text());
});

test('a retry names its new task, the same one again under the same key', async () => {
  const { app } = createAppDouble();

  const first = await post(app, `/v1/tasks/${TASK.id}/retry`, {}, withKey('k'));
  const again = await post(app, `/v1/tasks/${TASK.id}/retry`, {}, withKey('k'));

  for (const response of [first, again]) {
    expect(response.status).toBe(202);
    expect(response.headers.get('Location')).toBe(`/v1/tasks/${NEW_TASK}`);
  }
  expect(again.headers.get('Idempotency-Replayed')).toBe('true');
  expect(await again.text()).toBe(await first.text());
});
