import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { createAppDouble, jsonOf, post, send, TASK } from './app-double.ts';

const double = createAppDouble();
const { app, asked } = double;

test.each([
  ['/v1/tasks?limitt=5', '/limitt'],
  ['/v1/tasks?limit=5&limit=5', '/limit'],
  ['/v1/tasks?limit=0', '/limit'],
  ['/v1/tasks?limit=201', '/limit'],
  ['/v1/tasks?limit=', '/limit'],
  ['/v1/tasks?limit=1e1', '/limit'],
  ['/v1/tasks?limit=0x10', '/limit'],
  ['/v1/tasks?limit=%205', '/limit'],
  ['/v1/tasks?limit=1.5', '/limit'],
  ['/v1/tasks?limit=-1', '/limit'],
  ['/v1/tasks?status=done', '/status/0'],
  ['/v1/tasks?status=', '/status/0'],
  ['/v1/tasks?order=up', '/order'],
  ['/v1/tasks?agent=Not%20a%20name', '/agent'],
  ['/v1/tasks?__proto__=x', '/__proto__'],
  ['/v1/tasks?page=', '/page'],
  ['/v1/tasks?page=x', '/page'],
  ['/v1/questions?status=pending&status=expired', '/status'],
  ['/v1/questions?order=asc', '/order'],
  ['/v1/agents?x=1', '/x'],
  [`/v1/tasks/${TASK.id}?wait=61`, '/wait'],
  [`/v1/tasks/${TASK.id}?wait=-1`, '/wait'],
  [`/v1/tasks/${TASK.id}?wait=`, '/wait'],
  [`/v1/tasks/${TASK.id}?wait=soon`, '/wait'],
  [`/v1/tasks/${TASK.id}?wait=1&wait=1`, '/wait'],
])('refuses %s at %s', async (path, at) => {
  const response = await send(app, path);

  expect(response.status).toBe(400);
  expect(await jsonOf(response)).toMatchObject({ code: 'invalid_request', errors: [{ path: at }] });
});

test('refuses a query where a verb takes none', async () => {
  expect((await post(app, `/v1/tasks/${TASK.id}/cancel?force=1`, {})).status).toBe(400);
});

test('asks for one item more than the page shows, newest first, by default', async () => {
  await send(app, '/v1/tasks');

  expect(asked.listed.at(-1)).toEqual({ limit: 51, order: 'desc' });
});

test('lets status repeat, and reads unfinished as the three that are', async () => {
  await send(app, '/v1/tasks?status=failed&status=unfinished&status=queued&agent=echo&order=asc');

  expect(asked.listed.at(-1)).toEqual({
    limit: 51,
    order: 'asc',
    agent: 'echo',
    status: ['failed', 'queued', 'running', 'waiting'],
  });
});

describe('pages', () => {
  const list: Task[] = Array.from({ length: 3 }, (_, index) => ({ ...TASK, id: `task_${'0'.repeat(25)}${index}` }));

  async function firstPage(query: string): Promise<{ items: Task[]; nextPage: string | null }> {
    double.show(TASK, list);
    return jsonOf(await send(app, `/v1/tasks?${query}`));
  }

  test('name the next one only when there is one', async () => {
    const two = await firstPage('limit=2');
    const all = await firstPage('limit=3');

    expect(two.items).toHaveLength(2);
    expect(two.nextPage).toEqual(expect.any(String));
    expect(all.items).toHaveLength(3);
    expect(all.nextPage).toBeNull();
  });

  test('go on after the last item that was shown', async () => {
    const { nextPage } = await firstPage('limit=2');

    await send(app, `/v1/tasks?limit=2&page=${nextPage}`);

    expect(asked.listed.at(-1)).toMatchObject({ limit: 3, after: list[1]?.id });
  });

  test('are refused once tampered with, and for another list or order', async () => {
    const { nextPage } = await firstPage('limit=2');

    for (const path of [
      `/v1/tasks?page=${nextPage}A`,
      `/v1/tasks?page=${nextPage}%3D`,
      `/v1/tasks?page=${nextPage?.slice(1)}`,
      `/v1/tasks?page=${Buffer.from('tasks desc task_x').toString('base64url')}`,
      `/v1/tasks?order=asc&page=${nextPage}`,
      `/v1/questions?page=${nextPage}`,
    ]) {
      expect((await send(app, path)).status, path).toBe(400);
    }
  });
});

describe('wait', () => {
  test('is in seconds, whole or not', async () => {
    await send(app, `/v1/tasks/${TASK.id}?wait=0.25`);
    await send(app, `/v1/tasks/${TASK.id}?wait=60`);

    expect(asked.waited.slice(-2)).toEqual([250, 60_000]);
  });

  test('shows a new task with 202 while it runs and with 200 once it has ended or waits', async () => {
    const statuses: Record<string, number> = {};
    for (const status of ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const) {
      double.show({ ...TASK, status });
      statuses[status] = (await post(app, '/v1/tasks?wait=1', { agent: 'echo' })).status;
    }

    expect(statuses).toEqual({ queued: 202, running: 202, waiting: 200, completed: 200, failed: 200, cancelled: 200 });
  });

  test('shows a known task with 200 however it is', async () => {
    double.show({ ...TASK, status: 'running' });

    expect((await send(app, `/v1/tasks/${TASK.id}?wait=1`)).status).toBe(200);
  });

  test('of nought looks once and holds nothing', async () => {
    const before = asked.waited.length;
    double.show({ ...TASK, status: 'completed' });

    const response = await post(app, '/v1/tasks?wait=0', { agent: 'echo' });

    expect(response.status).toBe(200);
    expect(asked.waited).toHaveLength(before);
  });
});
