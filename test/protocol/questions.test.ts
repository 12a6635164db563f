import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { ItemSpec } from '../../src/model/question-spec.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const COLOURS = ['red', 'green', 'blue'];

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

/** A pending question with these items. */
async function ask(items: object[], more: object = {}): Promise<Question> {
  const { id } = await api.run('asker', { items, ...more });
  return api.pendingQuestion(id);
}

function textItem(id = 'a', more: object = {}): ItemSpec {
  return { id, prompt: 'Well?', ...more };
}

/** What the agent heard, once its task has ended. */
async function heardBy({ taskId }: Question): Promise<unknown> {
  return (await api.ended(taskId)).output;
}

async function resolutionsOf({ taskId }: Question): Promise<{ type: string; data: unknown }[]> {
  const events = await api.eventsOf(taskId);
  return events.filter(({ type }) => /^question\.(?!asked)/.test(type)).map(({ type, data }) => ({ type, data }));
}

describe('§6 a question', () => {
  test('is shown whole, the same in its event, the list and by its id', async () => {
    const question = await ask([textItem()]);

    const { body } = await api.get<Page<Question>>(`/v1/questions?taskId=${question.taskId}`);
    await api.answer(question.id, 'x');
    const asked = (await api.eventsOf(question.taskId)).find(({ type }) => type === 'question.asked');

    expect(question).toEqual({
      id: expect.stringMatching(/^qst_/),
      taskId: question.taskId,
      conversationId: null,
      name: 'question',
      status: 'pending',
      items: [
        {
          id: 'a',
          prompt: 'Well?',
          header: null,
          type: 'text',
          required: true,
          default: null,
          minLength: null,
          maxLength: null,
        },
      ],
      metadata: {},
      answers: null,
      resolvedBy: null,
      reason: null,
      askedAt: expect.any(String),
      expiresAt: expect.any(String),
      resolvedAt: null,
    });
    expect(body.items).toEqual([question]);
    expect(asked?.data).toEqual({ question });
  });

  test('is open for 15 minutes unless the agent says otherwise', async () => {
    const { askedAt, expiresAt } = await ask([textItem()]);

    expect(Date.parse(expiresAt ?? '') - Date.parse(askedAt)).toBe(15 * 60_000);
  });

  test('carries the metadata of its agent unchanged', async () => {
    const metadata = { render: 'buttons', deep: { list: [1, 'ü', null, false] }, '': 0 };

    const question = await ask([textItem()], { metadata });

    expect(question.metadata).toEqual(metadata);
    expect((await api.answer(question.id, 'x')).body.metadata).toEqual(metadata);
  });

  test('has the defaults of its items filled in', async () => {
    const { items } = await ask([
      {
        id: 'c',
        prompt: 'Which?',
        options: ['red', { label: 'Green' }, { value: 'b', label: 'Blue', description: 'sky' }],
      },
      { id: 'n', prompt: 'How many?', type: 'number' },
      { id: 'b', prompt: 'Sure?', type: 'boolean', header: 'Sure', required: false, default: true },
      { id: 't', prompt: 'Why?', minLength: 1, maxLength: 5, default: 'so' },
    ]);

    const common = { header: null, required: true, default: null };
    expect(items).toEqual([
      {
        ...common,
        id: 'c',
        prompt: 'Which?',
        type: 'choice',
        multiple: false,
        allowOther: false,
        options: [
          { value: 'red', label: 'red' },
          { value: 'Green', label: 'Green' },
          { value: 'b', label: 'Blue', description: 'sky' },
        ],
      },
      { ...common, id: 'n', prompt: 'How many?', type: 'number', minimum: null, maximum: null, integer: false },
      { id: 'b', prompt: 'Sure?', type: 'boolean', header: 'Sure', required: false, default: true },
      { ...common, id: 't', prompt: 'Why?', type: 'text', minLength: 1, maxLength: 5, default: 'so' },
    ]);
  });

  test.each([
    ['no items', []],
    ['21 items', Array.from({ length: 21 }, (_, index) => textItem(`i${index}`))],
    ['two items of one id', [textItem('a'), textItem('a')]],
    ['a choice without options', [{ id: 'a', prompt: 'Which?', type: 'choice' }]],
    ['a choice of nothing', [{ id: 'a', prompt: 'Which?', options: [] }]],
    ['an option that is there twice', [{ id: 'a', prompt: 'Which?', options: ['x', 'x'] }]],
    ['a type that there is not', [{ id: 'a', prompt: 'Which?', type: 'date' }]],
    ['a minimum above its maximum', [{ id: 'a', prompt: 'How many?', type: 'number', minimum: 2, maximum: 1 }]],
    ['a default that is no answer', [{ id: 'a', prompt: 'Which?', options: ['x'], default: 'y' }]],
    ['an unknown property', [{ id: 'a', prompt: 'Which?', optionss: ['x'] }]],
  ])('with %s is refused at the call, and nothing is asked', async (_, items) => {
    const task = await api.run('bad-asker', { items });

    expect(task.output).toEqual(expect.stringMatching(/\w/));
    expect((await api.eventsOf(task.id)).map(({ type }) => type)).not.toContain('question.asked');
  });

  test('may have 20 items', async () => {
    const items = Array.from({ length: 20 }, (_, index) => textItem(`i${index}`));
    const question = await ask(items);

    const answers = Object.fromEntries(items.map(({ id }) => [id, id]));
    expect((await api.post(`/v1/questions/${question.id}/answers`, { answers })).status).toBe(200);
    expect(await heardBy(question)).toMatchObject({ answers });
  });
});

describe('§6 what is an answer', () => {
  const choice = { id: 'a', prompt: 'Which?', options: COLOURS };

  test.each([
    ['a choice', choice, ['red', 'blue'], ['Red', '', 'pink', 0, true, ['red'], {}]],
    ['an open choice', { ...choice, allowOther: true }, ['red', 'pink', ''], [1, ['red'], {}, false]],
    [
      'several choices',
      { ...choice, multiple: true },
      [['red'], ['blue', 'red'], []],
      ['red', ['pink'], ['red', 'red'], [1], {}, [['red']]],
    ],
    ['several open choices', { ...choice, multiple: true, allowOther: true }, [['pink', 'red']], ['pink', [1], [null]]],
    ['a text', textItem(), ['x', '', 'ü'.repeat(1000)], [1, true, [], {}, ['x']]],
    ['a text of 2 to 4', textItem('a', { minLength: 2, maxLength: 4 }), ['ab', '😀😀😀😀'], ['', 'a', 'abcde', '😀']],
    ['a boolean', textItem('a', { type: 'boolean' }), [true, false], ['true', 0, 1, '', [], 'yes']],
    ['a number', textItem('a', { type: 'number' }), [0, -1.5, 1e21], ['1', true, [], '']],
    ['a number of 1 to 5', textItem('a', { type: 'number', minimum: 1, maximum: 5 }), [1, 5, 2.5], [0, 5.1, -1]],
    ['a whole number', textItem('a', { type: 'number', integer: true }), [0, -7], [0.5, 1e-7]],
  ])('%s takes what fits, refuses the rest with 422, and stays pending', async (_, item, good, bad) => {
    for (const [index, answer] of good.entries()) {
      const question = await ask([item]);

      for (const value of index === 0 ? bad : []) {
        const refused = await api.answer(question.id, value);
        const { errors } = expectProblem(refused, 422, 'invalid_answer');
        expect(errors, JSON.stringify(value)).toMatchObject([
          { path: '/answers/a', message: expect.stringMatching(/\w/) },
        ]);
      }
      const taken = await api.answer(question.id, answer);

      expect(taken.status, JSON.stringify(answer)).toBe(200);
      expect(taken.body).toMatchObject({ status: 'answered', answers: { a: answer } });
      expect(await heardBy(question)).toEqual({ status: 'answered', answers: { a: answer }, resolvedBy: 'local' });
    }
  });

  test('null and a missing key are no answer: 422 for what is required', async () => {
    const { id } = await ask([textItem('a'), textItem('b', { required: false })]);

    for (const answers of [{}, { a: null }, { b: 'x' }, { a: null, b: 'x' }]) {
      const refused = await api.post(`/v1/questions/${id}/answers`, { answers });

      expect(expectProblem(refused, 422, 'invalid_answer').errors).toMatchObject([{ path: '/answers/a' }]);
    }
    expect((await api.question(id)).status).toBe('pending');
  });

  test('what is not required may be null or missing, and its default is never taken for an answer', async () => {
    const optional = textItem('b', { required: false, default: 'preselected' });
    for (const answers of [{ a: 'x' }, { a: 'x', b: null }]) {
      const question = await ask([textItem('a'), optional]);

      const taken = await api.post<Question>(`/v1/questions/${question.id}/answers`, { answers });

      expect(taken.status).toBe(200);
      expect(taken.body.answers?.b ?? null).toBeNull();
      expect(await heardBy(question)).toMatchObject({ status: 'answered', answers });
    }
  });

  test('an answer of nothing is one where nothing is required', async () => {
    const question = await ask([textItem('a', { required: false })]);

    const taken = await api.answer(question.id, null);

    expect(taken.status).toBe(200);
    expect(await heardBy(question)).toMatchObject({ status: 'answered' });
  });

  test('an item that the question has not is 422 and named', async () => {
    const { id } = await ask([textItem()]);

    const refused = await api.post(`/v1/questions/${id}/answers`, { answers: { a: 'x', 'b/c': 'y' } });

    expect(expectProblem(refused, 422, 'invalid_answer').errors).toMatchObject([{ path: '/answers/b~1c' }]);
  });

  test('every fault of an answer is told', async () => {
    const { id } = await ask([choice, textItem('b', { type: 'number' }), textItem('c')]);

    const refused = await api.post(`/v1/questions/${id}/answers`, { answers: { a: 'pink', b: 'one' } });

    const { errors = [] } = expectProblem(refused, 422, 'invalid_answer');
    expect(errors.map(({ path }) => path)).toEqual(['/answers/a', '/answers/b', '/answers/c']);
  });

  test('an option named like a property of every object is an answer like any other', async () => {
    const question = await ask([{ id: 'constructor', prompt: 'Which?', options: ['__proto__', 'toString'] }]);

    expectProblem(await api.post(`/v1/questions/${question.id}/answers`, { answers: {} }), 422, 'invalid_answer');
    const taken = await api.answer(question.id, '__proto__');

    expect(taken.body.answers).toEqual({ constructor: '__proto__' });
  });
});

describe('§6 the body of an answer', () => {
  test('both of `answer` and `answers`, and neither, are 400', async () => {
    const { id } = await ask([textItem()]);

    for (const body of [{}, { answer: 'x', answers: { a: 'x' } }, { answer: null, answers: { a: 'x' } }]) {
      expectProblem(await api.post(`/v1/questions/${id}/answers`, body), 400, 'invalid_request');
    }
    expect((await api.question(id)).status).toBe('pending');
  });

  test.each([[{ answers: [] }], [{ answers: null }], [{ answers: 'x' }], [[]], ['x'], [{ a: 'x' }]])(
    '%j is 400',
    async (body) => {
      const { id } = await ask([textItem()]);

      expectProblem(await api.post(`/v1/questions/${id}/answers`, JSON.stringify(body)), 400, 'invalid_request');
    },
  );

  test('`answer` is 422 where the question has several items, and `answers` is taken for one', async () => {
    const two = await ask([textItem('a'), textItem('b')]);
    const one = await ask([textItem()]);

    expectProblem(await api.answer(two.id, 'x'), 422, 'invalid_answer');
    expect((await api.post(`/v1/questions/${one.id}/answers`, { answers: { a: 'x' } })).status).toBe(200);
  });
});

describe('§6 first answer wins', () => {
  test('[Q6] 200 has the question as it is resolved, and everybody is told by an event', async () => {
    const question = await ask([textItem()]);

    const { status, body, headers } = await api.answer(question.id, 'mine');

    expect(status).toBe(200);
    expect(headers.has('Idempotency-Replayed')).toBe(false);
    expect(body).toEqual({
      ...question,
      status: 'answered',
      answers: { a: 'mine' },
      resolvedBy: 'local',
      resolvedAt: expect.any(String),
    });
    expect(await api.question(question.id)).toEqual(body);
    expect(await resolutionsOf(question)).toEqual([
      { type: 'question.answered', data: { questionId: question.id, answers: { a: 'mine' }, resolvedBy: 'local' } },
    ]);
  });

  test('[Q10] equal answers again are 200 and replayed, without nulls and with arrays as sets', async () => {
    const question = await ask([
      { id: 'a', prompt: 'Which?', options: COLOURS, multiple: true },
      textItem('b', { required: false }),
    ]);
    const path = `/v1/questions/${question.id}/answers`;
    const first = await api.post<Question>(path, { answers: { a: ['red', 'blue'] } });

    const equals = [
      await api.post(path, { answers: { a: ['red', 'blue'] } }),
      await api.post(path, { answers: { a: ['blue', 'red'], b: null } }),
      await api.post(path, { answers: { b: null, a: ['blue', 'red', 'red'] } }),
    ];

    for (const again of equals) {
      expect(again.status).toBe(200);
      expect(again.headers.get('Idempotency-Replayed')).toBe('true');
      expect(again.body).toEqual(first.body);
    }
    expect(await resolutionsOf(question)).toHaveLength(1);
  });

  test('[Q6] other answers are 409 with the question as the winner left it, and the log is unchanged', async () => {
    const question = await ask([textItem()]);
    const { body: won } = await api.answer(question.id, 'first');
    await api.ended(question.taskId);
    const before = (await api.get('/v1/tasks?limit=1')).headers.get('Holdfast-Cursor');

    const refused = [
      await api.answer(question.id, 'second'),
      await api.answer(question.id, ''),
      await api.answer(question.id, null),
      await api.post(`/v1/questions/${question.id}/decline`),
    ];

    for (const late of refused) expect(expectProblem(late, 409, 'question_resolved').question).toEqual(won);
    expect((await api.get('/v1/tasks?limit=1')).headers.get('Holdfast-Cursor')).toBe(before);
  });

  test('an unknown question is 404 and the log is unchanged', async () => {
    const before = (await api.get('/v1/tasks?limit=1')).headers.get('Holdfast-Cursor');

    expectProblem(await api.answer(`qst_${'0'.repeat(26)}`, 'x'), 404, 'not_found');
    expectProblem(await api.post(`/v1/questions/qst_${'z'.repeat(26)}/decline`), 404, 'not_found');
    expect((await api.get('/v1/tasks?limit=1')).headers.get('Holdfast-Cursor')).toBe(before);
  });
});

describe('§6 decline', () => {
  test.each([
    ['no body', undefined, null],
    ['a reason', { reason: 'ask my boss' }, 'ask my boss'],
    ['reason null', { reason: null }, null],
  ])('with %s resolves the question, and the agent hears the reason', async (_, body, reason) => {
    const question = await ask([textItem()]);

    const declined = await api.post<Question>(`/v1/questions/${question.id}/decline`, body);

    expect(declined.status).toBe(200);
    expect(declined.body).toMatchObject({ status: 'declined', reason, answers: null, resolvedBy: 'local' });
    expect(await heardBy(question)).toEqual({ status: 'declined', reason });
    expect(await resolutionsOf(question)).toEqual([
      { type: 'question.declined', data: { questionId: question.id, reason, resolvedBy: 'local' } },
    ]);
  });

  test('twice is 200 and replayed, and the first reason stays', async () => {
    const question = await ask([textItem()]);
    const first = await api.post<Question>(`/v1/questions/${question.id}/decline`, { reason: 'one' });

    const again = await api.post<Question>(`/v1/questions/${question.id}/decline`, { reason: 'two' });

    expect(again.status).toBe(200);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  test('is final: an answer afterwards is 409 with the declined question', async () => {
    const { id } = await ask([textItem()]);
    await api.post(`/v1/questions/${id}/decline`);

    const late = await api.answer(id, 'x');

    expect(expectProblem(late, 409, 'question_resolved').question?.status).toBe('declined');
  });

  test.each([[{ reason: 7 }], [{ reason: 'x'.repeat(1001) }], [{ answer: 'x' }]])(
    'with a bad body is 400',
    async (body) => {
      const { id } = await ask([textItem()]);

      expectProblem(await api.post(`/v1/questions/${id}/decline`, body), 400, 'invalid_request');
      expect((await api.question(id)).status).toBe('pending');
    },
  );
});

describe('§6 list', () => {
  test('is oldest first, by status and by task', async () => {
    const { id: taskId } = await api.run('branches', {
      one: { items: [textItem()] },
      two: { items: [textItem()] },
      three: { items: [textItem()] },
    });
    const list = (query: string) => api.get<Page<Question>>(`/v1/questions?limit=200&${query}`);
    const all = (await list(`taskId=${taskId}`)).body.items;
    await api.answer(all[1]?.id ?? '', 'x');

    const pending = (await list(`taskId=${taskId}&status=pending`)).body.items;
    const answered = (await list(`taskId=${taskId}&status=answered`)).body.items;
    const everyones = (await list('status=pending')).body.items;

    expect(all.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
    expect(pending.map(({ name }) => name)).toEqual(['one', 'three']);
    expect(answered.map(({ name }) => name)).toEqual(['two']);
    expect(everyones.map(({ id }) => id)).toEqual(everyones.map(({ id }) => id).toSorted());
    expect(new Set(everyones.map(({ status }) => status))).toEqual(new Set(['pending']));
  });

  test('goes on by pages, oldest first', async () => {
    const { id: taskId } = await api.run('branches', { one: { items: [textItem()] }, two: { items: [textItem()] } });
    const path = `/v1/questions?taskId=${taskId}&limit=1`;

    const { body: first } = await api.get<Page<Question>>(path);
    const { body: second } = await api.get<Page<Question>>(`${path}&page=${first.nextPage}`);

    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['one', 'two']);
    expect(second.nextPage).toBeNull();
  });

  test('of a task that nobody has is empty', async () => {
    const { body } = await api.get(`/v1/questions?taskId=task_${'0'.repeat(26)}`);

    expect(body).toEqual({ items: [], nextPage: null });
  });

  test.each(['status=open', 'status=', 'status=pending&status=answered', 'order=up'])('?%s is 400', async (query) => {
    expectProblem(await api.get(`/v1/questions?${query}`), 400, 'invalid_request');
  });
});
