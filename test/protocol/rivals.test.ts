import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { type Answer, type Api, createApi, expectProblem, type Page } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** docs/protocol.md §2. */
describe('Fifty parallel creates with one Idempotency-Key', () => {
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test.each([1, 2, 3, 4, 5])('make one task, and who was early is replayed to later, in round %i', async (round) => {
    const rivals = await createFifty(`round-${round}`);
    const early = rivals.filter(({ status }) => status !== 202);
    const later: Answer<Task>[] = [];
    while (later.length < early.length) later.push(await create(`round-${round}`));

    const taken = rivals.filter(({ status }) => status === 202);
    for (const answer of early) {
      expectProblem(answer, 409, 'idempotency_in_progress');
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    expect(taken.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(later.filter((answer) => !isReplayed(answer))).toEqual([]);
    expect(new Set([...taken, ...later].map(({ body }) => body.id))).toEqual(new Set(await tasksOf(`round-${round}`)));
    expect(await tasksOf(`round-${round}`)).toHaveLength(1);
  });

  test('are all replays when the first create with it was done before', async () => {
    const { body } = await create('done');

    const retries = await createFifty('done');

    expect(retries.map((retry) => [retry.status, retry.body.id, isReplayed(retry)])).toEqual(
      retries.map(() => [202, body.id, true]),
    );
  });

  function create(key: string): Promise<Answer<Task>> {
    const body = { agent: 'ticker', input: { count: 1 }, metadata: { key } };
    return api.post<Task>('/v1/tasks', body, { 'Idempotency-Key': key });
  }

  function createFifty(key: string): Promise<Answer<Task>[]> {
    return Promise.all(Array.from({ length: 50 }, () => create(key)));
  }

  async function tasksOf(key: string): Promise<string[]> {
    const { body } = await api.get<Page<Task>>('/v1/tasks?limit=200');
    return body.items.filter(({ metadata }) => metadata.key === key).map(({ id }) => id);
  }
});

function isReplayed({ headers }: Answer<unknown>): boolean {
  return headers.get('Idempotency-Replayed') === 'true';
}
