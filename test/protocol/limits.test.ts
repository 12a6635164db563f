import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** docs/limits.md, of an owner and of a task. */
describe('What is too much', () => {
  let server: ServerProcess;
  let api: Api;
  beforeAll(async () => {
    const flags = ['--max-unfinished-per-owner', '2'];
    server = await startServerProcess({ agents: ['test/protocol/limits-agents.ts'], flags });
    api = createApi(server.url);
  });
  afterAll(async () => void (await server.stop()));

  test('of unfinished tasks is 429 with a time, uses up no key, and has room again when one has ended', async () => {
    const [first] = await Promise.all([1, 2].map(() => api.createTask({ agent: 'holder', input: null })));
    const another = () => api.post<Task>('/v1/tasks', { agent: 'holder', input: null }, { 'Idempotency-Key': 'one' });
    const conversation = await api.post<Conversation>('/v1/conversations', {});

    const refused = await another();
    const message = await api.post(`/v1/conversations/${conversation.body.id}/messages`, { content: 'Hello' });
    const retried = await api.post(`/v1/tasks/${first?.id}/cancel`).then(() => another());
    const again = await another();
    const full = await api.post(`/v1/tasks/${first?.id}/retry`);

    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
    expectProblem(message, 429, 'rate_limited');
    expect(retried.status).toBe(202);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expectProblem(full, 429, 'rate_limited');
    const { items } = (await api.get<{ items: Task[] }>('/v1/tasks?status=queued&status=running')).body;
    for (const { id } of items) await api.cancel(id);
  });

  test('of racing requests is told to all but as many as there is room for', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post<Task>('/v1/tasks', { agent: 'holder', input: null })),
    );

    expect(answers.filter(({ status }) => status === 202)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(18);
    for (const { status, body } of answers) if (status === 202) await api.cancel(body.id);
  });

  test('of questions fails the task, and its other questions are withdrawn', async () => {
    const task = await api.run('many-askers', { count: 3 });

    expect(task).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' }, pendingQuestionCount: 0 });
  });

  test('of events that nobody awaits fails the task, and its worker lives', async () => {
    const { id } = await api.createTask({ agent: 'spiller', input: null });

    const task = await api.ended(id);

    expect(task).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded' }, attempt: 1 });
    expect(task.error?.message).toContain('await what you emit');
  });

  // Would fail if what one task emits came before all that the others do.
  test('of events from one task slows that task, and no other', async () => {
    const { id } = await api.createTask({ agent: 'torrent', input: null });

    const took: number[] = [];
    for (let round = 0; round < 5; round++) {
      const startedAt = performance.now();
      const { status } = await api.run('quiet');
      expect(status).toBe('completed');
      took.push(performance.now() - startedAt);
    }

    expect(Math.min(...took)).toBeLessThan(2000);
    expect((await api.task(id)).status).toBe('running');
    await api.cancel(id);
  });
});
