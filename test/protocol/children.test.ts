import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, logEvents } from '../support/sse-reader.ts';
import { doneIn } from './durable-agents.ts';

const AGENTS = ['test/protocol/task-agents.ts', 'test/protocol/durable-agents.ts'];
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: AGENTS });
  api = createApi(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
  rmSync(dir, { recursive: true });
});

async function childrenOf(id: string): Promise<Task[]> {
  const { body } = await api.get<Page<Task>>('/v1/tasks?limit=200&order=asc');
  return body.items.filter(({ parentId }) => parentId === id);
}

/** A parent that waits for two children who ask. */
async function familyThatAsks(): Promise<{ parent: Task; children: Task[] }> {
  const input = [
    { agent: 'questioner', input: SPEC },
    { agent: 'questioner', input: SPEC },
  ];
  const { id } = await api.createTask({ agent: 'parent', input });
  const reader = await api.openStream(`/v1/tasks/${id}/events`);
  await reader.until(isType('question.asked'));
  await reader.until(isType('question.asked'));
  reader.close();
  const children = await childrenOf(id);
  await Promise.all([id, ...children.map((child) => child.id)].map((each) => api.settled(each)));
  return { parent: await api.task(id), children };
}

describe('§4 child tasks', () => {
  test('give their results to the parent that waits for them, whatever they come to', async () => {
    const { id } = await api.createTask({
      agent: 'parent',
      input: [
        { agent: 'echo', input: { a: 1 } },
        { agent: 'refuser', input: 'not today' },
        { agent: 'nobody', input: null },
      ],
    });

    const task = await api.ended(id);

    expect(task).toMatchObject({
      status: 'completed',
      output: [
        { status: 'completed', output: { a: 1 } },
        { status: 'failed', error: { code: 'agent_error', message: 'not today' } },
        { status: 'failed', error: { code: 'unknown_agent' } },
      ],
    });
    for (const child of await childrenOf(id)) expect(child).toMatchObject({ parentId: id, rootId: id, retryOf: null });
  });

  test('are told in the stream of their root, and in their own', async () => {
    const { id } = await api.createTask({ agent: 'parent', input: [{ agent: 'echo', input: 1 }] });
    const root = await api.openStream(`/v1/tasks/${id}/events`);
    const told = logEvents(await root.rest());
    const [child] = await childrenOf(id);
    const own = logEvents(await (await api.openStream(`/v1/tasks/${child?.id}/events?after=0`)).rest());

    expect(told.map(({ seq }) => seq)).toEqual((await api.log()).slice(-told.length).map(({ seq }) => seq));
    expect(own).toEqual(told.filter(({ taskId }) => taskId === child?.id));
    expect(own.map(({ type }) => type)).toEqual(['task.created', 'task.started', 'task.completed']);
    expect(own[0]?.data).toMatchObject({ agent: 'echo', input: 1, parentId: id });
    expect(told.at(-1)).toMatchObject({ type: 'task.completed', taskId: id });
  });

  test('let their parent wait, which says for whom', async () => {
    const { parent, children } = await familyThatAsks();
    const waiting = (await api.log(parent.cursor.before)).findLast(
      ({ type, taskId }) => type === 'task.waiting' && taskId === parent.id,
    );

    for (const child of children) await api.answer((await api.pendingQuestion(child.id)).id, 'yes');
    const task = await api.ended(parent.id);

    expect(parent.status).toBe('waiting');
    expect(waiting?.data).toEqual({ questionIds: [], until: null, for: ['children'] });
    expect(task.output).toMatchObject([{ output: { status: 'answered' } }, { output: { status: 'answered' } }]);
  });

  test('[Q7] are cancelled with their parent, they and their questions, and their last events come first', async () => {
    const { parent, children } = await familyThatAsks();
    const root = await api.openStream(`/v1/tasks/${parent.id}/events`);

    const { body } = await api.cancel(parent.id, { reason: 'enough' });
    const told = logEvents(await root.rest());

    expect(body.status).toBe('cancelled');
    for (const { id } of children) {
      expect(await api.task(id)).toMatchObject({ status: 'cancelled', pendingQuestionCount: 0 });
    }
    const last = told.slice(-5).map(({ type, taskId }) => `${type} ${taskId}`);
    const ends = children.flatMap(({ id }) => [`question.cancelled ${id}`, `task.cancelled ${id}`]);
    expect(last).toEqual([...ends, `task.cancelled ${parent.id}`]);
    expect(new Set(told.slice(-5).map(({ at }) => at)).size).toBe(1);
  });

  test('that are cancelled alone tell their parent so', async () => {
    const { parent, children } = await familyThatAsks();
    const [first, second] = children;

    await api.cancel(first?.id ?? '', { reason: 'not this one' });
    await api.answer((await api.pendingQuestion(second?.id ?? '')).id, 'yes');

    expect((await api.ended(parent.id)).output).toEqual([
      { status: 'cancelled', reason: 'not this one' },
      expect.objectContaining({ status: 'completed' }),
    ]);
  });

  test('of children are told in the stream of the root as well, and answered there', async () => {
    const { id } = await api.createTask({ agent: 'chain', input: { depth: 4, spec: SPEC } });
    const reader = await api.openStream(`/v1/tasks/${id}/events`);
    const { data } = JSON.parse((await reader.until(isType('question.asked'))).data ?? '');

    await api.answer(data.question.id, 'yes');
    await reader.rest();
    const told = logEvents(reader.blocks);

    expect((await api.ended(id)).status).toBe('completed');
    expect(told.filter(({ type }) => type === 'task.completed')).toHaveLength(5);
    expect(told.at(-1)).toMatchObject({ taskId: id, type: 'task.completed' });
  });

  test('below the sixteenth fail at once', async () => {
    const { id } = await api.createTask({ agent: 'chain', input: { depth: 20, spec: SPEC } });

    const { status } = await api.ended(id);
    const tree = (await api.get<Page<Task>>('/v1/tasks?limit=200&status=failed')).body.items.filter(
      ({ rootId }) => rootId === id,
    );

    expect(status).toBe('completed');
    expect(tree).toMatchObject([{ error: { code: 'limit_exceeded' } }]);
  });
});

describe('§4 a task that is cancelled while it runs', () => {
  test('is over at once, but the next under its concurrencyKey begins only when its code has stopped', async () => {
    const file = path.join(dir, 'lane');
    const first = await api.createTask({ agent: 'dawdler', input: { file, ms: 700 }, concurrencyKey: 'lane' });
    await (await api.openStream(`/v1/tasks/${first.id}/events`)).until(isType('step.started'));
    while (doneIn(file).length === 0) await api.task(first.id);
    const next = await api.createTask({ agent: 'marker', input: { file, name: 'next' }, concurrencyKey: 'lane' });

    const cancelled = await api.cancel(first.id);
    const meanwhile = await api.task(next.id);
    await api.ended(next.id);

    expect(cancelled.body.status).toBe('cancelled');
    expect(meanwhile.status).toBe('queued');
    expect(doneIn(file)).toEqual(['begun', 'stopped', 'next']);
  });

  test('and does not stop at all is given up after ten seconds', async () => {
    const file = path.join(dir, 'deaf');
    const first = await api.createTask({ agent: 'dawdler', input: { file, ms: 15_000 }, concurrencyKey: 'deaf' });
    await (await api.openStream(`/v1/tasks/${first.id}/events`)).until(isType('step.started'));
    const next = await api.createTask({ agent: 'marker', input: { file, name: 'next' }, concurrencyKey: 'deaf' });

    const startedAt = performance.now();
    await api.cancel(first.id);
    await api.ended(next.id);

    expect(performance.now() - startedAt).toBeGreaterThan(9000);
    expect(doneIn(file)).toEqual(['begun', 'next']);
  });
});
