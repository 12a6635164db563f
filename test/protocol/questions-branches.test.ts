import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType } from '../support/sse-reader.ts';

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

async function questionsOf(taskId: string): Promise<Question[]> {
  return (await api.get<Page<Question>>(`/v1/questions?taskId=${taskId}&limit=200`)).body.items;
}

function types(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type);
}

describe('§6 several questions', () => {
  test('each is resolved on its own and resumes the branch that waits for it, in any order', async () => {
    const { id } = await api.run('branches', { one: SPEC, two: SPEC });
    const [one, two] = await questionsOf(id);
    const reader = await api.openStream(`/v1/tasks/${id}/events?after=0`);
    await reader.until(isType('task.waiting'));

    await api.answer(two?.id ?? '', 'second');
    await reader.until(isType('task.waiting'));
    const between = await api.task(id);
    await api.answer(one?.id ?? '', 'first');
    await reader.rest();

    expect(between).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
    const events = await api.eventsOf(id);
    expect(types(events)).toEqual([
      'task.created',
      'task.started',
      'question.asked',
      'question.asked',
      'task.waiting',
      'question.answered',
      'task.resumed',
      'branch.heard',
      'task.waiting',
      'question.answered',
      'task.resumed',
      'branch.heard',
      'task.completed',
    ]);
    const waits = events.filter(({ type }) => type === 'task.waiting').map(({ data }) => data.questionIds);
    expect(waits).toEqual([[one?.id, two?.id], [one?.id]]);
    const heard = events.filter(({ type }) => type === 'branch.heard').map(({ data }) => data);
    expect(heard).toMatchObject([
      { name: 'two', reply: { answers: { a: 'second' } } },
      { name: 'one', reply: { answers: { a: 'first' } } },
    ]);
  });

  test('twenty that are answered at once all reach their branches', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `q${index}`);
    const { id } = await api.run('branches', Object.fromEntries(names.map((name) => [name, SPEC])));

    const answered = await Promise.all(
      (await questionsOf(id)).map((question) => api.answer(question.id, question.name)),
    );

    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]));
    const { output } = await api.ended(id);
    const reply = (name: string) => ({ status: 'answered', answers: { a: name }, resolvedBy: 'local' });
    expect(output).toEqual(Object.fromEntries(names.map((name) => [name, reply(name)])));
  });

  test('a name that is asked again is numbered', async () => {
    const { id } = await api.createTask({ agent: 'examiner', input: { rounds: 3, spec: SPEC } });
    for (const name of ['round', 'round#2', 'round#3']) {
      await api.settled(id);
      const question = await api.pendingQuestion(id);
      expect(question.name).toBe(name);
      const reader = await api.openStream(`/v1/tasks/${id}/events?after=latest`);
      await api.answer(question.id, 'x');
      await reader.until(({ data }) => /"type":"(task.waiting|task.completed)"/.test(data ?? ''));
      reader.close();
    }

    expect((await api.ended(id)).status).toBe('completed');
  });

  test('a task with a branch that runs stays running, though a question is pending', async () => {
    const { id } = await api.createTask({ agent: 'half-waiting', input: { gate: 'half', spec: SPEC } });
    const reader = await api.openStream(`/v1/tasks/${id}/events`);
    const asked = await reader.until(isType('question.asked'));
    const question: Question = JSON.parse(asked.data ?? '').data.question;

    const running = await api.task(id);
    await api.answer(question.id, 'early');
    await api.run('opener', { gate: 'half', times: 1 });
    await reader.rest();

    expect(running).toMatchObject({ status: 'running', pendingQuestionCount: 1 });
    const events = types(await api.eventsOf(id));
    expect(events).not.toContain('task.waiting');
    expect(events).not.toContain('task.resumed');
    expect((await api.task(id)).output).toMatchObject({ status: 'answered', answers: { a: 'early' } });
  });

  test('it begins to wait when that branch has nothing more to do', async () => {
    const { id } = await api.createTask({ agent: 'half-waiting', input: { gate: 'then', spec: SPEC } });
    await api.run('opener', { gate: 'then', times: 1 });

    const task = await api.settled(id);

    expect(task).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
    const { id: questionId } = await api.pendingQuestion(id);
    await api.answer(questionId, 'x');
    const events = types(await api.eventsOf(id));
    expect(events.indexOf('half-waiting.free')).toBeLessThan(events.indexOf('task.waiting'));
  });
});

describe('§6 a question is cancelled', () => {
  test('withdrawn, when its agent takes it back: the race that it lost leaves nothing open', async () => {
    const { id } = await api.run('either', { left: SPEC, right: SPEC });
    const [left, right] = await questionsOf(id);

    await api.answer(left?.id ?? '', 'mine');

    const task = await api.ended(id);
    expect(task.output).toMatchObject({ left: { status: 'answered' }, right: { status: 'withdrawn' } });
    expect(await api.question(right?.id ?? '')).toMatchObject({
      status: 'cancelled',
      reason: 'withdrawn',
      resolvedBy: null,
    });
    const withdrawn = (await api.eventsOf(id)).find(({ type }) => type === 'question.cancelled');
    expect(withdrawn?.data).toEqual({ questionId: right?.id, reason: 'withdrawn', resolvedBy: null });
    const late = await api.answer(right?.id ?? '', 'anybody there?');
    expect(expectProblem(late, 409, 'question_resolved').question?.reason).toBe('withdrawn');
  });

  test('answers to both at once are each a 200 that was heard or a 409 that was not', async () => {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { id } = await api.run('either', { left: SPEC, right: SPEC });
        const [left, right] = await questionsOf(id);

        const answers = await Promise.all([api.answer(left?.id ?? '', 'l'), api.answer(right?.id ?? '', 'r')]);

        const { output } = await api.ended(id);
        const { left: first, right: second } = output as { [side: string]: { status: string } };
        const heard = [first, second].map((reply) => (reply?.status === 'answered' ? 200 : 409));
        expect(answers.map(({ status }) => status)).toEqual(heard);
      }),
    );
  });

  test.each([
    [false, 'completed'],
    [true, 'failed'],
  ])('task_finished, when its task ends (throws: %s) in the same transaction', async (throws, status) => {
    const task = await api.run('leaver', { throws });

    const [question] = await questionsOf(task.id);
    expect(task).toMatchObject({ status, pendingQuestionCount: 0 });
    expect(question).toMatchObject({ status: 'cancelled', reason: 'task_finished', resolvedAt: task.finishedAt });
    const [cancelled, last] = (await api.eventsOf(task.id)).slice(-2);
    expect(cancelled?.data).toEqual({ questionId: question?.id, reason: 'task_finished', resolvedBy: null });
    expect(last).toMatchObject({ type: `task.${status}`, at: cancelled?.at, seq: (cancelled?.seq ?? 0) + 1 });
  });
});

describe('§6 connections', () => {
  test('[Q1] [Q2] losing every connection changes nothing about a question', async () => {
    const before = await api.run('asker', SPEC);
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => api.openStream(`/v1/tasks/${before.id}/events`)),
    );
    for (const reader of readers) await reader.until(isType('task.waiting'));
    const question = await api.pendingQuestion(before.id);

    for (const reader of readers) reader.close();
    let open = -1;
    while (open !== 0) open = Number(/holdfast_streams_open (\d+)/.exec((await api.get('/metrics')).text)?.[1]);

    expect(await api.pendingQuestion(before.id)).toEqual(question);
    expect(await api.task(before.id)).toEqual(before);
    expect((await api.answer(question.id, 'back again')).status).toBe(200);
    expect((await api.ended(before.id)).output).toMatchObject({ answers: { a: 'back again' } });
  });

  test('[Q3] a page that has forgotten everything is told the same question again, and by REST too', async () => {
    const { id } = await api.run('asker', { ...SPEC, metadata: { panel: 7 } });
    const question = await api.pendingQuestion(id);

    const reader = await api.openStream('/v1/events');
    const told = await reader.until(({ data }) => data?.includes(question.id) ?? false);
    reader.close();

    expect(JSON.parse(told.data ?? '').data).toEqual({ question });
    await api.answer(question.id, 'x');
  });

  test('[Q5] [Q6] every tab is told of the answer that one of them gave', async () => {
    const { id } = await api.run('asker', SPEC);
    const question = await api.pendingQuestion(id);
    const tabs = await Promise.all(Array.from({ length: 5 }, () => api.openStream('/v1/events?types=question.*')));
    for (const tab of tabs) await tab.until(isNamed('caught-up'));

    await api.answer(question.id, 'by one of us');

    for (const tab of tabs) {
      const closed = await tab.until(isType('question.answered'));
      tab.close();
      expect(JSON.parse(closed.data ?? '').data).toEqual({
        questionId: question.id,
        answers: { a: 'by one of us' },
        resolvedBy: 'local',
      });
    }
  });
});
