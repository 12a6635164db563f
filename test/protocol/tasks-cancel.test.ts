import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, type LogEvent, logEvents } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: [...TASK_AGENTS, 'test/protocol/event-agents.ts'] });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** Starts a task and resolves once it has emitted an event of this type. */
async function begun(agent: string, input: unknown, type: string): Promise<string> {
  const { id } = await api.createTask({ agent, input });
  const reader = await api.openStream(`/v1/tasks/${id}/events`);
  await reader.until(isType(type));
  reader.close();
  return id;
}

function deltas(events: readonly LogEvent[]): LogEvent[] {
  return events.filter(({ type }) => type === 'message.delta');
}

function terminals(events: readonly LogEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => /^task\.(completed|failed|cancelled)$/.test(type));
}

describe('§4 cancel in every status', () => {
  test('a queued task is cancelled and never begins', async () => {
    const runs = await api.createTask({ agent: 'holder', concurrencyKey: 'lane' });
    const { id } = await api.createTask({ agent: 'echo', concurrencyKey: 'lane' });

    const cancelled = await api.cancel(id, { reason: 'changed my mind' });
    await api.cancel(runs.id);

    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      attempt: 0,
      startedAt: null,
      output: null,
      error: null,
    });
    expect((await api.eventsOf(id)).map(({ type }) => type)).toEqual(['task.created', 'task.cancelled']);
  });

  test('a running task is cancelled, and its signal aborts', async () => {
    const heard = await api.createTask({ agent: 'witness', input: 'running' });
    const listening = await api.openStream(`/v1/tasks/${heard.id}/events`);
    await listening.until(isType('witness.listening'));
    listening.close();
    const id = await begun('stubborn', 'running', 'stubborn.tick');

    const cancelled = await api.cancel(id, { reason: 'enough' });

    expect(cancelled.body).toMatchObject({ status: 'cancelled', output: null, error: null });
    expect((await api.ended(heard.id)).output).toEqual({ reason: 'AbortError', wentOn: true });
    const events = await api.eventsOf(id);
    expect(events.at(-1)).toMatchObject({ type: 'task.cancelled', data: { reason: 'enough' } });
  });

  test('[Q7] a waiting task is cancelled, and its questions in the same transaction, before it', async () => {
    const { id } = await api.run('branches', { one: SPEC, two: SPEC });

    const cancelled = await api.cancel(id);

    expect(cancelled.body).toMatchObject({ status: 'cancelled', pendingQuestionCount: 0 });
    const { body } = await api.get<Page<Question>>(`/v1/questions?taskId=${id}`);
    expect(body.items).toHaveLength(2);
    for (const question of body.items) {
      expect(question).toMatchObject({ status: 'cancelled', reason: 'cancelled', resolvedBy: null, answers: null });
      expect(question.resolvedAt).toBe(cancelled.body.finishedAt);
    }
    const last = (await api.eventsOf(id)).slice(-3);
    expect(last.map(({ type }) => type)).toEqual(['question.cancelled', 'question.cancelled', 'task.cancelled']);
    expect(new Set(last.map(({ at }) => at)).size).toBe(1);
    expect(last.map(({ seq }) => seq - (last[0]?.seq ?? 0))).toEqual([0, 1, 2]);
    expect(last[0]?.data).toEqual({ questionId: body.items[0]?.id, reason: 'cancelled', resolvedBy: null });
  });

  test('[Q7] an answer that comes after the cancel is 409 with the cancelled question', async () => {
    const task = await api.run('asker', SPEC);
    const question = await api.pendingQuestion(task.id);
    await api.cancel(task.id);

    const late = await api.answer(question.id, 'too late');

    const problem = expectProblem(late, 409, 'question_resolved');
    expect(problem.question).toMatchObject({ id: question.id, status: 'cancelled', reason: 'cancelled' });
    expect((await api.eventsOf(task.id)).at(-1)?.type).toBe('task.cancelled');
  });

  test('a stop in the first moment is never lost: cancel works from the instant of the 202', async () => {
    const agents = ['holder', 'echo', 'asker', 'stubborn', 'counter'];
    const rounds = Array.from({ length: 100 }, (_, round) => agents[round % agents.length]);

    await Promise.all(
      rounds.map(async (agent) => {
        const input = agent === 'asker' ? SPEC : agent === 'counter' ? 50 : 'first-moment';
        const { id } = await api.createTask({ agent, input });
        const cancelled = await api.cancel(id);
        const events = await api.eventsOf(id);
        const { status } = await api.task(id);

        if (cancelled.status === 409) expect(expectProblem(cancelled, 409, 'task_finished').task?.status).toBe(status);
        else expect(status).toBe('cancelled');
        expect(terminals(events)).toEqual([`task.${status}`]);
        expect(events.at(-1)?.type).toBe(`task.${status}`);
      }),
    );
  });
});

describe('§4 cancel is final', () => {
  test('nothing is appended after task.cancelled, whatever the worker still does', async () => {
    const witnesses = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => ({
        heard: await begun('witness', `final-${name}`, 'witness.listening'),
        id: await begun('stubborn', `final-${name}`, 'stubborn.tick'),
      })),
    );

    for (const { id } of witnesses) await api.cancel(id);
    for (const { heard } of witnesses) expect((await api.ended(heard)).output).toMatchObject({ wentOn: true });
    // What a worker still had to say would be written before it can end another task of its thread.
    await Promise.all(Array.from({ length: 8 }, () => api.run('counter', 3)));

    for (const { id } of witnesses) {
      const events = await api.eventsOf(id);
      expect(events.at(-1)?.type).toBe('task.cancelled');
      expect(terminals(events)).toEqual(['task.cancelled']);
      expect(await api.task(id)).toMatchObject({ status: 'cancelled', output: null, pendingQuestionCount: 0 });
      expect((await api.get<Page<Question>>(`/v1/questions?taskId=${id}`)).body.items).toEqual([]);
    }
  });

  test('[T1] text that was streamed before a cancel in the middle of a message stays readable', async () => {
    const ops = [{ op: 'say', name: 'speech', pieces: ['Half a ', 'sentence'], hangs: true }];
    const { id } = await api.createTask({ agent: 'teller', input: { ops } });
    const watcher = await api.openStream(`/v1/tasks/${id}/events`);
    const textOf = (events: readonly LogEvent[]) =>
      deltas(events)
        .map(({ data }) => data.text)
        .join('');
    while (textOf(logEvents(watcher.blocks)) !== 'Half a sentence') await watcher.until(isType('message.delta'));

    await api.cancel(id);
    await watcher.rest();

    const events = await api.eventsOf(id);
    expect(textOf(events)).toBe('Half a sentence');
    expect(events.at(-1)?.type).toBe('task.cancelled');
    expect(terminals(events)).toEqual(['task.cancelled']);
    expect(events.map(({ type }) => type)).not.toContain('message.discarded');
    expect(events.filter(({ data }) => data.message?.status === 'complete')).toEqual([]);
    expect(logEvents(watcher.blocks).map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  });

  test('a cancelled task leaves its lane to the next', async () => {
    const first = await api.createTask({ agent: 'holder', concurrencyKey: 'next' });
    const second = await api.createTask({ agent: 'echo', concurrencyKey: 'next' });

    await api.cancel(first.id);

    expect((await api.settled(second.id)).status).toBe('completed');
  });

  test('cancel and the end race for one terminal event, and everybody is told the same', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_, round) => {
        const { id } = await api.createTask({ agent: 'counter', input: round % 6 });
        if (round % 3 > 0) await api.task(id);
        const { status: answered } = await api.cancel(id);
        const events = await api.eventsOf(id);

        const { status } = await api.task(id);
        expect(answered).toBe(status === 'cancelled' ? 200 : 409);
        expect(terminals(events)).toEqual([`task.${status}`]);
      }),
    );
  });
});

describe('§4 cancel again', () => {
  test('a cancelled task is cancelled again with 200, and the first reason stays', async () => {
    const { id } = await api.createTask({ agent: 'holder' });
    const first = await api.cancel(id, { reason: 'the first' });

    const again = await api.cancel(id, { reason: 'another' });

    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    const events = await api.eventsOf(id);
    expect(events.filter(({ type }) => type === 'task.cancelled').map(({ data }) => data)).toEqual([
      { reason: 'the first' },
    ]);
  });

  test.each([
    ['completed', 'echo'],
    ['failed', 'thrower'],
  ])('a %s task is 409 with the task as it is, and nothing changes', async (status, agent) => {
    const task = await api.run(agent, 'error');

    const refused = await api.cancel(task.id);

    expect(expectProblem(refused, 409, 'task_finished').task).toEqual(task);
    expect(await api.task(task.id)).toEqual(task);
    expect(task.status).toBe(status);
  });
});

describe('§4 cancel: its body', () => {
  test.each([
    ['no body', undefined, null],
    ['{}', {}, null],
    ['a reason', { reason: 'too slow' }, 'too slow'],
    ['an empty reason', { reason: '' }, ''],
    ['1000 characters', { reason: 'ü'.repeat(1000) }, 'ü'.repeat(1000)],
  ])('%s is taken, and the event tells the reason', async (_, body, reason) => {
    const { id } = await api.createTask({ agent: 'holder' });

    const { status } = await api.cancel(id, body);

    expect(status).toBe(200);
    expect((await api.eventsOf(id)).at(-1)?.data).toEqual({ reason });
  });

  test.each([[{ reason: 'x'.repeat(1001) }], [{ reason: 7 }], [{ reason: 'a\0b' }], [{ why: 'x' }], [[]]])(
    'a malformed body is 400 and cancels nothing',
    async (body) => {
      const { id } = await api.createTask({ agent: 'holder' });

      expectProblem(await api.cancel(id, body), 400, 'invalid_request');
      expect((await api.cancel(id)).status).toBe(200);
    },
  );
});
