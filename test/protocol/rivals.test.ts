import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

let server: ServerProcess;

beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
});
afterAll(() => server.stop());

/** docs/protocol.md §2, Idempotency-Key. */
test.each([1, 2, 3, 4, 5])('Fifty parallel creates with one key make one task, in round %i', async (round) => {
  const before = await tasks();
  const key = `rivals-${round}`;

  const rivals = await createAtOnce(key);
  const losers = rivals.filter(({ status }) => status === 409);
  const retried: Created[] = [];
  while (retried.length < losers.length) retried.push(await create(key));

  const created = rivals.filter(({ status }) => status === 202);
  const [task] = await newTasks(before);
  expect(created.length + losers.length).toBe(50);
  expect(losers.map(({ body, retryAfter }) => [body.code, retryAfter])).toEqual(
    losers.map(() => ['idempotency_in_progress', '1']),
  );
  expect(created.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  expect(retried.map(({ status, replayed }) => [status, replayed])).toEqual(losers.map(() => [202, 'true']));
  expect(await newTasks(before)).toHaveLength(1);
  expect(new Set([...created, ...retried].map(({ body }) => body.id))).toEqual(new Set([task]));
});

test('Retries that come at the same time are all replays once the first create is done', async () => {
  const { body } = await create('retried-at-once');

  const retries = await createAtOnce('retried-at-once');

  expect(retries.map(({ status, replayed }) => [status, replayed])).toEqual(retries.map(() => [202, 'true']));
  expect(new Set(retries.map((retry) => retry.body.id))).toEqual(new Set([body.id]));
});

interface Created {
  status: number;
  replayed: string | null;
  retryAfter: string | null;
  body: { id?: string; code?: string };
}

function createAtOnce(key: string): Promise<Created[]> {
  return Promise.all(Array.from({ length: 50 }, () => create(key)));
}

async function create(key: string): Promise<Created> {
  const response = await fetch(`${server.url}/v1/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ agent: 'ticker', input: { count: 1 } }),
  });
  const { status, headers } = response;
  return {
    status,
    replayed: headers.get('Idempotency-Replayed'),
    retryAfter: headers.get('Retry-After'),
    body: await response.json(),
  };
}

async function newTasks(before: readonly string[]): Promise<string[]> {
  return (await tasks()).filter((id) => !before.includes(id));
}

async function tasks(): Promise<string[]> {
  const response = await fetch(`${server.url}/v1/tasks?limit=200`);
  const { items } = await response.json();
  return items.map(({ id }: { id: string }) => id);
}
