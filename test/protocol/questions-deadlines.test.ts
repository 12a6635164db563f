import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { type Answer, type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType } from '../support/sse-reader.ts';

const ITEMS = [{ id: 'a', prompt: 'Well?' }];
const DAY_MS = 24 * 60 * 60_000;

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

async function ask(timeoutMs: number | null): Promise<Question> {
  const reader = await api.openStream('/v1/events?after=latest&types=question.asked');
  await api.createTask({ agent: 'asker', input: { items: ITEMS, timeoutMs } });
  const asked = await reader.until(isType('question.asked'));
  reader.close();
  return JSON.parse(asked.data ?? '').data.question;
}

test('§6 [Q4] a question that nobody answers expires: the agent hears it and goes on, and it is no answer', async () => {
  const question = await ask(300);

  const task = await api.ended(question.taskId);

  expect(task).toMatchObject({ status: 'completed', output: { status: 'expired' } });
  expect(await api.question(question.id)).toMatchObject({
    status: 'expired',
    answers: null,
    resolvedBy: null,
    reason: null,
  });
  const told = (await api.eventsOf(question.taskId)).map(({ type, data }) => ({ type, data })).slice(-4);
  expect(told).toEqual([
    { type: 'task.waiting', data: { questionIds: [question.id], until: question.expiresAt, for: ['people'] } },
    { type: 'question.expired', data: { questionId: question.id, resolvedBy: null } },
    { type: 'task.resumed', data: {} },
    { type: 'task.completed', data: { output: { status: 'expired' } } },
  ]);
});

test('§6 [Q4] a question expires at its deadline, not before and not long after', async () => {
  const question = await ask(500);
  await api.ended(question.taskId);

  const { askedAt, expiresAt, resolvedAt } = await api.question(question.id);

  expect(Date.parse(expiresAt ?? '') - Date.parse(askedAt)).toBe(500);
  expect(Date.parse(resolvedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(expiresAt ?? ''));
  expect(Date.parse(resolvedAt ?? '') - Date.parse(expiresAt ?? '')).toBeLessThan(1000);
});

test('§6 what comes after the deadline is 409 with the expired question, and changes nothing', async () => {
  const question = await ask(100);
  await api.ended(question.taskId);

  const late = [await api.answer(question.id, 'late'), await api.post(`/v1/questions/${question.id}/decline`)];

  for (const refused of late) {
    expect(expectProblem(refused, 409, 'question_resolved').question).toMatchObject({
      status: 'expired',
      answers: null,
    });
  }
});

test('§6 the deadline is judged when the write runs: no answer is taken after it, whoever comes first', async () => {
  await Promise.all(
    Array.from({ length: 25 }, async (_, round) => {
      const { id: taskId } = await api.run('asker', { items: ITEMS, timeoutMs: 800 + 10 * round });
      const question = await api.pendingQuestion(taskId);
      const deadline = Date.parse(question.expiresAt ?? '');

      // Refused answers keep it pending up to its last moment; then a good one tries to slip in.
      let last: Answer<Question> = await api.answer(question.id, 7);
      while (last.status === 422 && Date.now() < deadline - (round % 5)) last = await api.answer(question.id, 7);
      if (last.status === 422) last = await api.answer(question.id, 'in time?');

      const resolved = last.status === 200 ? last.body : expectProblem(last, 409, 'question_resolved').question;
      const isInTime = Date.parse(resolved?.resolvedAt ?? '') < deadline;
      expect(resolved?.status).toBe(isInTime ? 'answered' : 'expired');
      const events = await api.eventsOf(taskId);
      const told = events.filter(({ type }) => /^question\.(?!asked)/.test(type)).map(({ type }) => type);
      expect(told).toEqual([`question.${resolved?.status}`]);
      expect((await api.task(taskId)).output).toMatchObject({ status: resolved?.status });
    }),
  );
});

test('§6 a question with no time at all is expired, never answered', async () => {
  const question = await ask(0);

  const refused = await api.answer(question.id, 'at once');

  expect(expectProblem(refused, 409, 'question_resolved').question?.status).toBe('expired');
  expect((await api.ended(question.taskId)).output).toEqual({ status: 'expired' });
});

test.each([
  ['30 days', 30 * DAY_MS],
  ['2^32 ms', 2 ** 32],
  ['a year', 365 * DAY_MS],
  ['2^31 ms', 2 ** 31],
  ['ever', null],
])('§6 a question that is open for %s stays so when others expire, and no timer overflows', async (_, timeoutMs) => {
  const question = await ask(timeoutMs);
  const short = await ask(200);
  await api.ended(short.taskId);
  // When this is over nothing else falls due, so that the timer is set for the question.
  await api.run('holder', null, { timeoutMs: 200 });

  const { status, askedAt, expiresAt } = await api.question(question.id);
  expect(status).toBe('pending');
  expect(expiresAt === null ? null : Date.parse(expiresAt) - Date.parse(askedAt)).toBe(timeoutMs);
  expect(server.stderr()).toBe('');
  expect((await api.answer(question.id, 'at last')).status).toBe(200);
});

test('§6 a task that may wait for ever says so', async () => {
  const question = await ask(null);

  const reader = await api.openStream(`/v1/tasks/${question.taskId}/events`);
  const waiting = await reader.until(isType('task.waiting'));
  reader.close();

  expect(JSON.parse(waiting.data ?? '').data).toEqual({ questionIds: [question.id], until: null, for: ['people'] });
});

test('§6 a task waits until the nearest of its deadlines', async () => {
  const one = { items: ITEMS, timeoutMs: 60_000 };
  const { id } = await api.run('branches', {
    never: { items: ITEMS, timeoutMs: null },
    later: { ...one, timeoutMs: DAY_MS },
    soon: one,
  });

  const reader = await api.openStream(`/v1/tasks/${id}/events`);
  const waiting = await reader.until(isType('task.waiting'));
  reader.close();

  const { until, questionIds } = JSON.parse(waiting.data ?? '').data;
  const questions: Question[] = await Promise.all(questionIds.map((questionId: string) => api.question(questionId)));
  expect(questions.map(({ name }) => name).sort()).toEqual(['later', 'never', 'soon']);
  expect(until).toBe(questions.find(({ name }) => name === 'soon')?.expiresAt);
});

test('§6 of two questions one expires and its branch goes on, while the other stays open', async () => {
  const { id } = await api.createTask({
    agent: 'branches',
    input: { short: { items: ITEMS, timeoutMs: 300 }, long: { items: ITEMS } },
  });
  const reader = await api.openStream(`/v1/tasks/${id}/events`);
  const heard = await reader.until(isType('branch.heard'));
  await reader.until(isType('task.waiting'));

  const left = await api.pendingQuestion(id);
  await api.answer(left.id, 'still here');
  await reader.rest();

  expect(JSON.parse(heard.data ?? '').data).toEqual({ name: 'short', reply: { status: 'expired' } });
  expect(left.name).toBe('long');
  expect((await api.task(id)).output).toMatchObject({
    short: { status: 'expired' },
    long: { answers: { a: 'still here' } },
  });
});
