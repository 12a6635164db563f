import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Answer, type Api, createApi, seqOf, TASK_AGENTS } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, logEvents } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** A task that waits for two people at once. */
async function startWaiting(): Promise<{ task: Task; questions: string[] }> {
  const task = await api.run('branches', { one: SPEC, two: SPEC });
  const { body } = await api.get<{ items: Question[] }>(`/v1/questions?taskId=${task.id}`);
  return { task, questions: body.items.map(({ id }) => id) };
}

const decline = (id: string | undefined) => api.post<Question>(`/v1/questions/${id}/decline`);

/** The types of what the stream of everything has to tell after the cursor of an answer, up to the head. */
async function typesAfter({ headers }: Answer<unknown>): Promise<string[]> {
  const reader = await api.openStream(`/v1/events?after=${headers.get('Holdfast-Cursor')}`);
  await reader.until(isNamed('caught-up'));
  reader.close();
  return logEvents(reader.blocks).map(({ type }) => type);
}

describe('§2 the Holdfast-Cursor of a cancel', () => {
  test('stands behind all that the cancel did: nothing of it is told again', async () => {
    const { task } = await startWaiting();

    const cancelled = await api.cancel(task.id);

    expect(cancelled.headers.get('Holdfast-Cursor')).toBe(cancelled.body.cursor.last);
    expect(await typesAfter(cancelled)).toEqual([]);
  });

  test('is the place at which the task is shown, whatever else goes on', async () => {
    const rounds = Array.from({ length: 20 }, async () => {
      const { id } = await api.createTask({ agent: 'counter', input: 30 });
      return api.cancel(id);
    });

    const cancels = (await Promise.all(rounds)).filter(({ status }) => status === 200);

    const log = await readLog(api, '/v1/events');
    expect(cancels.length).toBeGreaterThan(0);
    for (const { headers, body } of cancels) {
      const upTo = seqOf(headers.get('Holdfast-Cursor'));
      const last = log.findLast(({ seq, taskId }) => taskId === body.id && seq <= upTo);
      expect({ type: last?.type, id: last?.id }).toEqual({ type: 'task.cancelled', id: body.cursor.last });
    }
  });

  test('stays a good one when the cancel is repeated', async () => {
    const { task } = await startWaiting();
    const first = await api.cancel(task.id);

    const again = await api.cancel(task.id);

    expect(seqOf(again.headers.get('Holdfast-Cursor'))).toBeGreaterThanOrEqual(
      seqOf(first.headers.get('Holdfast-Cursor')),
    );
    expect(await typesAfter(again)).toEqual([]);
  });
});

describe('§2 the Holdfast-Cursor of a decline', () => {
  test('has before it that the question was declined, and after it all that this set going', async () => {
    const { task, questions } = await startWaiting();
    const first = await decline(questions[0]);
    await api.settled(task.id);

    const last = await decline(questions[1]);

    await api.ended(task.id);
    const upTo = seqOf(last.headers.get('Holdfast-Cursor'));
    const declined = (await api.eventsOf(task.id)).filter(({ type }) => type === 'question.declined');
    expect(declined.map(({ data }) => data.questionId)).toEqual(questions);
    expect(seqOf(first.headers.get('Holdfast-Cursor'))).toBeGreaterThanOrEqual(declined[0]?.seq ?? Number.NaN);
    expect(upTo).toBeGreaterThanOrEqual(declined[1]?.seq ?? Number.NaN);
    expect(await typesAfter(last)).toEqual(['branch.heard', 'task.completed']);
  });

  test('stays a good one when the decline is repeated', async () => {
    const { task, questions } = await startWaiting();
    await decline(questions[0]);

    const again = await decline(questions[0]);

    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(await typesAfter(again)).not.toContain('question.declined');
    await api.cancel(task.id);
  });
});
