import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, type LogEvent } from '../support/sse-reader.ts';
import { doneIn } from './durable-agents.ts';

const AGENTS = ['test/protocol/durable-agents.ts'];
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }], timeoutMs: 60 * 60_000 };

interface Found {
  task: Task;
  question: Question | null;
}

const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** docs/protocol.md §4, docs/durability.md. */
describe.each(['kill', 'stop'] as const)('[Q12] what was unfinished when the server went (%s)', (end) => {
  const dataDir = path.join(dir, end);
  const file = (name: string) => path.join(dir, `${end}-${name}`);
  const before: { [name: string]: Found } = {};
  const after: { [name: string]: Found } = {};
  let log: LogEvent[];
  let server: ServerProcess;
  let api: Api;

  async function start(env: Record<string, string> = {}): Promise<void> {
    server = await startServerProcess({ dataDir, agents: AGENTS, env });
    api = createApi(server.url);
  }

  async function begun(agent: string, input: unknown, type: string): Promise<string> {
    const { id } = await api.createTask({ agent, input });
    const reader = await api.openStream(`/v1/tasks/${id}/events`);
    await reader.until(isType(type));
    reader.close();
    return id;
  }

  async function find(id: string): Promise<Found> {
    const task = await api.task(id);
    return { task, question: task.pendingQuestionCount === 1 ? await api.pendingQuestion(id) : null };
  }

  beforeAll(async () => {
    await start();
    const asking = await api.run('clerk', { file: file('asking'), spec: SPEC });
    const running = await begun('plodder', { file: file('running') }, 'plodder.begun');
    while (!doneIn(file('running')).includes('second 1')) await api.task(running);
    const children = [
      { agent: 'plodder', input: { file: file('child') } },
      { agent: 'questioner', input: SPEC },
    ];
    const parent = await begun('parent', children, 'question.asked');
    await api.settled(parent);
    const names = { asking: asking.id, running, parent };
    for (const [name, id] of Object.entries(names)) before[name] = await find(id);
    log = await api.log();

    if (end === 'kill') await server.kill();
    else expect(await server.stop()).toBe(0);
    // What is found on disk is found there whether or not anything is kept in memory.
    await start({ HOLDFAST_WARM_MS: end === 'kill' ? '0' : '10000' });
    for (const [name, id] of Object.entries(names)) after[name] = await find(id);
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test('is told by nothing but that: what was in the log stands there as it was', async () => {
    const now = await api.log();

    expect(now.slice(0, log.length)).toEqual(log);
    expect(now.slice(log.length).map(({ type }) => type)).not.toContain('task.failed');
  });

  test('a question keeps its id and its deadline, can be answered at once, and carries its task to the end', async () => {
    const { task, question } = before.asking ?? {};
    expect(after.asking).toEqual({ task: { ...task, cursor: expect.anything() }, question });
    expect(task).toMatchObject({ status: 'waiting', attempt: 1, pendingQuestionCount: 1 });

    const answered = await api.answer(question?.id ?? '', 'yes');
    const ended = await api.ended(task?.id ?? '');

    expect(answered.status).toBe(200);
    expect(ended).toMatchObject({
      status: 'completed',
      attempt: 1,
      output: { before: 'before', reply: { status: 'answered', answers: { a: 'yes' } }, after: 'after' },
    });
    expect(doneIn(file('asking'))).toEqual(['before', 'after']);
    const own = (await api.eventsOf(ended.id)).filter(({ seq }) => seq > log.length);
    expect(own.map(({ type }) => type)).toEqual([
      ...['question.answered', 'task.resumed', 'step.started', 'step.completed', 'task.completed'],
    ]);
  });

  test('a task that ran goes on where it was, and what it had done is not done again', async () => {
    const id = before.running?.task.id ?? '';
    const [told] = log.filter(({ taskId, type }) => taskId === id && type === 'plodder.begun');
    expect(['queued', 'running']).toContain(after.running?.task.status);

    appendFileSync(file('running'), 'go\n');
    const task = await api.ended(id);
    const events = await api.eventsOf(id);

    const attempt = end === 'kill' ? 2 : 1;
    expect(task).toMatchObject({
      status: 'completed',
      attempt,
      output: { first: 'first', id: told?.data.id, second: 'second 2', attempt },
    });
    expect(doneIn(file('running')).filter((done) => done !== 'go')).toEqual(['first', 'second 1', 'second 2']);
    expectOneEnd(events, task);
    const lost = end === 'kill' ? ['task.recovered', 'task.started'] : [];
    expect(events.map(({ type }) => type)).toEqual([
      ...['task.created', 'task.started', 'step.started', 'step.completed', 'plodder.begun', 'step.started'],
      ...lost,
      ...['step.started', 'step.completed', 'task.completed'],
    ]);
    for (const { type, data } of events) {
      if (type === 'task.recovered') expect(data).toEqual({ attempt: 1, reason: 'crashed' });
    }
  });

  test('a parent that waits for its children goes on when they have', async () => {
    const { task } = before.parent ?? {};
    expect(task?.status).toBe('waiting');
    expect(after.parent?.task.status).toBe('waiting');

    appendFileSync(file('child'), 'go\n');
    const { body } = await api.get<Page<Question>>('/v1/questions?status=pending');
    const asked = body.items.filter(({ taskId }) => taskId !== before.asking?.task.id);
    for (const { id } of asked) await api.answer(id, 'yes');
    const ended = await api.ended(task?.id ?? '');

    expect(asked).toHaveLength(1);
    expect(ended).toMatchObject({
      status: 'completed',
      attempt: 1,
      output: [
        { status: 'completed', output: { first: 'first' } },
        { status: 'completed', output: { status: 'answered' } },
      ],
    });
  });

  test('a task that waits anew goes on as well', async () => {
    const { id } = await api.run('clerk', { file: file('new'), spec: SPEC });
    await api.answer((await api.pendingQuestion(id)).id, 'yes');

    expect(await api.ended(id)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(doneIn(file('new'))).toEqual(['before', 'after']);
  });
});
