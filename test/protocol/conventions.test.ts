import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import { parseStartPoint } from '../../src/model/cursor.ts';
import type { Message } from '../../src/model/event.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Answer, type Api, createApi, expectProblem, type Page, seqOf, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isSignal, isType, type LogEvent } from '../support/sse-reader.ts';

const UNKNOWN_TASK = `task_${'0'.repeat(26)}`;
const UNKNOWN_QUESTION = `qst_${'0'.repeat(26)}`;
const UNKNOWN_CONVERSATION = `conv_${'0'.repeat(26)}`;
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };
const MAX_BODY_BYTES = 256 * 1024;
const MAX_CONTENT_BYTES = 1024 * 1024;
const MAX_MESSAGE_BODY_BYTES = 4 * 1024 * 1024;

let server: ServerProcess;
let api: Api;
let finished: Task;
let cancelled: Task;
let waiting: Task;
let question: Question;
let conversation: Conversation;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
  finished = await api.run('echo', 'done');
  cancelled = (await api.cancel((await api.run('asker', SPEC)).id)).body;
  waiting = await api.run('asker', SPEC);
  question = await api.pendingQuestion(waiting.id);
  conversation = await openConversation();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

async function openConversation(): Promise<Conversation> {
  return (await api.post<Conversation>('/v1/conversations', {})).body;
}

/** Every POST there is, each with a body that it would take. */
function posts(): [string, object][] {
  return [
    ['/v1/tasks', { agent: 'echo' }],
    [`/v1/tasks/${waiting.id}/cancel`, {}],
    [`/v1/tasks/${cancelled.id}/retry`, {}],
    [`/v1/questions/${question.id}/answers`, { answer: 'x' }],
    [`/v1/questions/${question.id}/decline`, {}],
    ['/v1/conversations', {}],
    [`/v1/conversations/${conversation.id}/messages`, { content: 'x', agent: 'echo' }],
  ];
}

function patch<Body>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return api.send(path, { method: 'PATCH', body: text, headers: { 'Content-Type': 'application/json', ...headers } });
}

/** Everything that takes a body, likewise. */
function writes(): [string, object, Send][] {
  return [
    ...posts().map(([path, body]): [string, object, Send] => [path, body, api.post]),
    [`/v1/conversations/${conversation.id}`, { title: 'x' }, patch],
  ];
}

type Send = <Body>(path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer<Body>>;

/** Every GET of §3, §4, §6 and §7. */
function gets(): string[] {
  return [
    ...['/v1/agents', '/v1/tasks', `/v1/tasks/${waiting.id}`, '/v1/questions', `/v1/questions/${question.id}`],
    ...['/v1/conversations', `/v1/conversations/${conversation.id}`, `/v1/conversations/${conversation.id}/messages`],
  ];
}

/** A body for `POST /v1/tasks` of exactly so many bytes. */
function bodyOf(bytes: number): string {
  const [head, tail] = ['{"agent":"echo","input":"', '"}'];
  return `${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`;
}

/** A body whose arrays and objects nest so deep. */
function nested(depth: number): string {
  return `{"agent":"echo","input":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

/** Sends text in chunks, and gives the status that comes back while or after it is sent. */
async function upload(text: string, headers: Record<string, string>): Promise<number | undefined> {
  const call = request(`${api.url}/v1/tasks`, { method: 'POST', headers, agent: false });
  call.on('error', () => {});
  for (let at = 0; at < text.length; at += 50_000) call.write(text.slice(at, at + 50_000));
  call.end();
  const [response] = await once(call, 'response');
  response.resume();
  call.destroy();
  return response.statusCode;
}

async function listAll(path: string): Promise<string[]> {
  const ids: string[] = [];
  let page: string | null = '';
  while (page !== null) {
    const { body }: { body: Page<{ id: string }> } = await api.get(`${path}${page === '' ? '' : `&page=${page}`}`);
    ids.push(...body.items.map(({ id }) => id));
    page = body.nextPage;
  }
  return ids;
}

describe('§2 media type', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON; charset="UTF-8"'])(
    'a body of %s is taken',
    async (type) => {
      const created = await api.post('/v1/tasks', { agent: 'echo' }, { 'Content-Type': type });

      expect(created.status).toBe(202);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/json-seq', 'json'])(
    'a body of %s is 415 wherever one is taken, as cross-site forms would send it',
    async (type) => {
      for (const [path, body, send] of writes()) {
        const refused = await send(path, body, { 'Content-Type': type });

        expectProblem(refused, 415, 'unsupported_media_type');
      }
      expect((await api.question(question.id)).status).toBe('pending');
    },
  );

  test('a body without a type, in another charset or encoded is 415', async () => {
    const untyped = await api.send('/v1/tasks', { method: 'POST', body: Buffer.from('{"agent":"echo"}') });
    const latin = await api.post(
      '/v1/tasks',
      { agent: 'echo' },
      { 'Content-Type': 'application/json; charset=latin1' },
    );
    const zipped = await api.post('/v1/tasks', { agent: 'echo' }, { 'Content-Encoding': 'gzip' });

    for (const refused of [untyped, latin, zipped]) expectProblem(refused, 415, 'unsupported_media_type');
  });
});

describe('§2 what is unknown', () => {
  test('an unknown query parameter is 400 at every route, and is named', async () => {
    const answers = [
      ...(await Promise.all(gets().map((path) => api.get(`${path}?agnet=echo`)))),
      ...(await Promise.all(writes().map(([path, body, send]) => send(`${path}?agnet=echo`, body)))),
      await api.send(`/v1/conversations/${conversation.id}?agnet=echo`, { method: 'DELETE' }),
    ];

    for (const refused of answers) {
      expect(expectProblem(refused, 400, 'invalid_request').errors).toMatchObject([{ path: '/agnet' }]);
    }
  });

  test('an unknown field is 400 wherever a body is taken, and is named', async () => {
    for (const [path, body, send] of writes()) {
      const refused = await send(path, { ...body, resaon: 'typo' });

      expect(expectProblem(refused, 400, 'invalid_request').errors).toMatchObject([{ path: '/resaon' }]);
    }
  });

  test.each(['ticket', 'parentId', 'retryOf'])(
    'the field %s, which this version does not have, is 400',
    async (field) => {
      const refused = await api.post('/v1/tasks', { agent: 'echo', [field]: null });

      expect(expectProblem(refused, 400, 'invalid_request').errors).toMatchObject([{ path: `/${field}` }]);
    },
  );

  test('§4 a conversation that nobody knows is 404 for a new task, also before an input that is wrong', async () => {
    const { id } = await openConversation();
    await api.send(`/v1/conversations/${id}`, { method: 'DELETE' });

    for (const conversationId of [UNKNOWN_CONVERSATION, id, waiting.id, 'x', '']) {
      expectProblem(await api.post('/v1/tasks', { agent: 'echo', conversationId }), 404, 'not_found');
    }
  });

  test('the lists of a conversation that nobody knows are empty', async () => {
    for (const list of ['/v1/tasks', '/v1/questions']) {
      const { status, body } = await api.get(`${list}?conversationId=${UNKNOWN_CONVERSATION}`);

      expect({ status, body }).toEqual({ status: 200, body: { items: [], nextPage: null } });
    }
  });

  test('§7 what a message or a conversation may not be is 400, and is named', async () => {
    const messages = `/v1/conversations/${conversation.id}/messages`;
    const refused: [string, Answer<unknown>][] = [
      ...(await Promise.all(
        [{}, { content: '' }, { content: 7 }, { content: null }, { content: 'a\0b' }, { content: '\ud800' }].map(
          async (body): Promise<[string, Answer<unknown>]> => ['/content', await api.post(messages, body)],
        ),
      )),
      ['/whenBusy', await api.post(messages, { content: 'x', whenBusy: 'wait' })],
      ['/agent', await api.post(messages, { content: 'x', agent: 'No Name' })],
      ['/metadata', await api.post(messages, { content: 'x', metadata: { big: 'x'.repeat(16 * 1024) } })],
      ['/title', await api.post('/v1/conversations', { title: 'x'.repeat(256) })],
      ['/metadata', await api.post('/v1/conversations', { metadata: [] })],
      ['/title', await patch(`/v1/conversations/${conversation.id}`, { title: 7 })],
    ];

    for (const [path, answer] of refused) {
      expect(expectProblem(answer, 400, 'invalid_request').errors).toMatchObject([{ path }]);
    }
    expect((await api.get<Page<Message>>(messages)).body.items).toEqual([]);
  });

  test('a parameter that is given twice is 400', async () => {
    const twice = ['/v1/tasks?limit=1&limit=1', '/v1/questions?taskId=a&taskId=a', '/v1/tasks?page=a&page=b'];
    const ofConversations = ['?limit=1&limit=1', `/${conversation.id}/messages?order=asc&order=asc`];
    for (const path of [...twice, ...ofConversations.map((rest) => `/v1/conversations${rest}`)]) {
      expectProblem(await api.get(path), 400, 'invalid_request');
    }
  });

  test('unknown parameters of a stream are ignored', async () => {
    const reader = await api.openStream(`/v1/events?_=123&utm_source=x&ticket=y`);
    reader.close();

    expect(reader.response.status).toBe(200);
  });
});

describe('§2 sizes', () => {
  test('a body of 256 KiB is taken, and a byte more is 413', async () => {
    const good = await api.post('/v1/tasks', bodyOf(MAX_BODY_BYTES));
    const tooLarge = await api.post('/v1/tasks', bodyOf(MAX_BODY_BYTES + 1));

    expect(good.status).toBe(202);
    expectProblem(tooLarge, 413, 'payload_too_large');
  });

  test('a chunked body is measured as it comes', async () => {
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };

    expect(await upload(bodyOf(MAX_BODY_BYTES), headers)).toBe(202);
    expect(await upload(bodyOf(MAX_BODY_BYTES + 1), headers)).toBe(413);
    expect(await upload(bodyOf(10 * MAX_BODY_BYTES), headers)).toBe(413);
  });

  test('a declared length over the limit is 413 before anything is sent', async () => {
    expect(await upload('', { 'Content-Type': 'application/json', 'Content-Length': '1000000000' })).toBe(413);
  });

  test('§7 a message of 1 MiB is taken, a byte more is 400, and a body of more than 4 MiB is 413', async () => {
    const { id } = await openConversation();
    const messageOf = (bytes: number) => ({ content: 'x'.repeat(bytes), agent: 'holder' });
    const head = JSON.stringify({ content: 'x', agent: 'holder', metadata: {} }).length;
    const bodyOfMessage = (bytes: number) =>
      `${' '.repeat(bytes - head)}{"content":"x","agent":"holder","metadata":{}}`;

    const good = [
      await api.post(`/v1/conversations/${id}/messages`, messageOf(MAX_CONTENT_BYTES)),
      await api.post(`/v1/conversations/${id}/messages`, bodyOfMessage(MAX_MESSAGE_BODY_BYTES)),
    ];
    const longer = await api.post(`/v1/conversations/${id}/messages`, messageOf(MAX_CONTENT_BYTES + 1));
    const larger = await api.post(`/v1/conversations/${id}/messages`, bodyOfMessage(MAX_MESSAGE_BODY_BYTES + 1));
    const title = await api.post('/v1/conversations', bodyOfMessage(MAX_BODY_BYTES + 1));
    const { body } = await api.get<Page<Message>>(`/v1/conversations/${id}/messages`);
    await api.send(`/v1/conversations/${id}`, { method: 'DELETE' });

    expect(good.map(({ status }) => status)).toEqual([202, 202]);
    expectProblem(longer, 400, 'invalid_request');
    expectProblem(larger, 413, 'payload_too_large');
    expectProblem(title, 413, 'payload_too_large');
    const written = body.items.filter(({ role }) => role === 'user');
    expect(written.map(({ content }) => content.length)).toEqual([MAX_CONTENT_BYTES, 1]);
  });

  test('a body that nests 32 deep is taken, and 33 is 400', async () => {
    const good = await api.post('/v1/tasks', nested(32));
    const refused = [await api.post('/v1/tasks', nested(33)), await api.post('/v1/tasks', nested(100_000))];

    expect(good.status).toBe(202);
    for (const tooDeep of refused) expectProblem(tooDeep, 400, 'invalid_request');
  });
});

describe('§2 order of checks', () => {
  test('404 comes before 415', async () => {
    for (const path of [
      `/v1/tasks/${UNKNOWN_TASK}/cancel`,
      `/v1/tasks/${UNKNOWN_TASK}/retry`,
      `/v1/questions/${UNKNOWN_QUESTION}/answers`,
      `/v1/conversations/${UNKNOWN_CONVERSATION}/messages`,
      '/v1/nothing',
    ]) {
      expectProblem(await api.post(path, 'x', { 'Content-Type': 'text/plain' }), 404, 'not_found');
    }
    const unknown = `/v1/conversations/${UNKNOWN_CONVERSATION}`;
    expectProblem(await patch(unknown, 'x', { 'Content-Type': 'text/plain' }), 404, 'not_found');
  });

  test('404 comes before 400', async () => {
    expectProblem(await api.post(`/v1/questions/${UNKNOWN_QUESTION}/answers`, '{'), 404, 'not_found');
    expectProblem(await api.post(`/v1/tasks/${UNKNOWN_TASK}/cancel?x=1`, { typo: 1 }), 404, 'not_found');
    expectProblem(await api.get(`/v1/tasks/${UNKNOWN_TASK}?wait=x`), 404, 'not_found');
    expectProblem(await api.get(`/v1/questions/${UNKNOWN_QUESTION}?x=1`), 404, 'not_found');
    const unknown = `/v1/conversations/${UNKNOWN_CONVERSATION}`;
    expectProblem(await api.get(`${unknown}?x=1`), 404, 'not_found');
    expectProblem(await api.get(`${unknown}/messages?limit=0`), 404, 'not_found');
    expectProblem(await api.post(`${unknown}/messages?x=1`, { typo: 1 }), 404, 'not_found');
    expectProblem(await patch(unknown, { typo: 1 }), 404, 'not_found');
    expectProblem(await api.send(`${unknown}?x=1`, { method: 'DELETE' }), 404, 'not_found');
  });

  test('415 comes before 400', async () => {
    for (const [path, , send] of writes()) {
      const refused = await send(`${path}?x=1`, '{', { 'Content-Type': 'text/plain', 'Idempotency-Key': 'a b' });

      expectProblem(refused, 415, 'unsupported_media_type');
    }
  });

  test('400 comes before 409', async () => {
    for (const path of [`/v1/tasks/${finished.id}/cancel`, `/v1/tasks/${finished.id}/retry`]) {
      expectProblem(await api.post(path, { typo: 1 }), 400, 'invalid_request');
      expectProblem(await api.post(`${path}?x=1`, {}), 400, 'invalid_request');
      expectProblem(await api.post(path, {}, { 'Idempotency-Key': '' }), 400, 'invalid_request');
      expectProblem(await api.post(path, {}), 409, 'task_finished');
    }
    const { id } = await openConversation();
    const path = `/v1/conversations/${id}/messages`;
    const body = { content: 'x', agent: 'holder', whenBusy: 'reject' };
    await api.post(path, body);
    expectProblem(await api.post(path, { ...body, typo: 1 }), 400, 'invalid_request');
    expectProblem(await api.post(path, body, { 'Idempotency-Key': '' }), 400, 'invalid_request');
    expectProblem(await api.post(path, body), 409, 'conversation_busy');
    await api.send(`/v1/conversations/${id}`, { method: 'DELETE' });
  });

  test('400 comes before 422', async () => {
    expectProblem(await api.post('/v1/tasks', { agent: 'nobody', typo: 1 }), 400, 'invalid_request');
    expectProblem(await api.post('/v1/tasks?x=1', { agent: 'nobody' }), 400, 'invalid_request');
    expectProblem(await api.post('/v1/tasks', { agent: 'nobody' }, { 'Idempotency-Key': '' }), 400, 'invalid_request');
    expectProblem(await api.post('/v1/tasks', { agent: 'nobody' }), 422, 'unknown_agent');
  });

  test('409 comes before 422', async () => {
    const task = await api.run('asker', SPEC);
    const { id } = await api.pendingQuestion(task.id);
    await api.answer(id, 'first');

    const late = await api.post(`/v1/questions/${id}/answers`, { answers: { unknown: 1 } });

    expectProblem(late, 409, 'question_resolved');
  });
});

describe('§2 errors', () => {
  test('what is wrong with the shape is told by paths and messages', async () => {
    const refused = await api.post('/v1/tasks', { agent: 7, priority: 1000, timeoutMs: '1' });

    const { errors = [] } = expectProblem(refused, 400, 'invalid_request');
    expect(errors.map(({ path }) => path).sort()).toEqual(['/agent', '/priority', '/timeoutMs']);
    for (const { message } of errors) expect(message).toMatch(/\w/);
  });

  test.each([
    '{"agent":',
    "{'agent':'echo'}",
    '\u0000',
    'undefined',
    '{"agent":"echo"}}',
    'NaN',
    '""',
    '[]',
    'null',
    '7',
  ])('the body %j is 400 and not repeated in the error', async (text) => {
    const problem = expectProblem(await api.post('/v1/tasks', text), 400, 'invalid_request');

    expect(problem.detail).not.toContain('position');
    expect(problem.detail).not.toContain('token');
  });

  test('a POST that needs a body is 400 without one', async () => {
    const headers = { 'Content-Type': 'application/json' };

    expectProblem(await api.post('/v1/tasks', '', headers), 400, 'invalid_request');
    expectProblem(await api.post(`/v1/questions/${question.id}/answers`, '', headers), 400, 'invalid_request');
    expectProblem(await api.post(`/v1/conversations/${conversation.id}/messages`, '', headers), 400, 'invalid_request');
    expectProblem(await patch(`/v1/conversations/${conversation.id}`, '', headers), 400, 'invalid_request');
  });

  test.each(['/v1', '/v1/', '/v1/taskss', '/v1/tasks/', '/V1/tasks', '/v2/tasks', '/v1/tasks/x/y/z', '/%00'])(
    'the path %s is 404',
    async (path) => {
      expectProblem(await api.get(path), 404, 'not_found');
    },
  );

  test('an error is never cached', async () => {
    const { headers } = await api.get('/v1/nothing');

    expect(headers.get('Cache-Control')).toBe('no-store');
  });
});

describe('§2 pagination', () => {
  const total = 53;
  let made: string[];

  beforeAll(async () => {
    made = [];
    // One after the other, so that their order is known.
    for (let i = 0; i < total; i++) made.push((await api.createTask({ agent: 'counter', input: 0 })).id);
  });

  test('a page holds 50 without a limit, newest first', async () => {
    const { body } = await api.get<Page<Task>>('/v1/tasks?agent=counter');

    expect(body.items.map(({ id }) => id)).toEqual(made.toReversed().slice(0, 50));
    expect(Object.keys(body).sort()).toEqual(['items', 'nextPage']);
  });

  test('the pages together hold each item once, and the last has no next one', async () => {
    expect(await listAll('/v1/tasks?agent=counter')).toEqual(made.toReversed());
    expect(await listAll('/v1/tasks?agent=counter&limit=7')).toEqual(made.toReversed());
    expect(await listAll('/v1/tasks?agent=counter&limit=200')).toEqual(made.toReversed());
  });

  test('a page that is just full is the last one', async () => {
    const { body } = await api.get<Page<Task>>(`/v1/tasks?agent=counter&limit=${total}`);

    expect(body).toMatchObject({ items: { length: total }, nextPage: null });
  });

  test('order=asc lists the oldest first', async () => {
    expect(await listAll('/v1/tasks?agent=counter&limit=20&order=asc')).toEqual(made);
  });

  test('tasks that are created between two pages move nothing', async () => {
    const { body: first } = await api.get<Page<Task>>('/v1/tasks?agent=counter&limit=30');
    const { id } = await api.createTask({ agent: 'counter', input: 0 });

    const { body: second } = await api.get<Page<Task>>(`/v1/tasks?agent=counter&limit=30&page=${first.nextPage}`);

    const seen = [...first.items, ...second.items].map((task) => task.id);
    expect(seen).toEqual(made.toReversed());
    made.push(id);
  });

  test.each(['0', '-1', '201', '1.5', '1e2', '', 'ten', '0x10', '%201'])('limit=%s is 400', async (limit) => {
    const messages = `/v1/conversations/${conversation.id}/messages`;
    for (const list of ['/v1/tasks', '/v1/questions', '/v1/conversations', messages]) {
      const { errors } = expectProblem(await api.get(`${list}?limit=${limit}`), 400, 'invalid_request');

      expect(errors).toMatchObject([{ path: '/limit' }]);
    }
  });

  test('a page that was never given out is 400', async () => {
    const { body } = await api.get<Page<Task>>('/v1/tasks?agent=counter&limit=5');
    const page = body.nextPage ?? '';
    const tampered = ['', 'x', page.slice(1), `${page}A`, page.toUpperCase(), `${page}==`, made[0], '../..', '%00'];

    for (const text of tampered) {
      expectProblem(await api.get(`/v1/tasks?page=${text}`), 400, 'invalid_request');
      expectProblem(await api.get(`/v1/conversations?page=${text}`), 400, 'invalid_request');
      expectProblem(
        await api.get(`/v1/conversations/${conversation.id}/messages?page=${text}`),
        400,
        'invalid_request',
      );
    }
  });

  test('a page of one list is 400 at another', async () => {
    const { body } = await api.get<Page<Task>>('/v1/tasks?limit=1');

    expectProblem(await api.get(`/v1/questions?page=${body.nextPage}`), 400, 'invalid_request');
    expectProblem(await api.get(`/v1/tasks?order=asc&page=${body.nextPage}`), 400, 'invalid_request');
    expectProblem(await api.get(`/v1/conversations?page=${body.nextPage}`), 400, 'invalid_request');
  });

  test('§7 a page of messages is 400 in the other order, and in another conversation', async () => {
    const [{ id }, other] = [await openConversation(), await openConversation()];
    for (const content of ['a', 'b']) await api.post(`/v1/conversations/${id}/messages`, { content, agent: 'echo' });
    const path = `/v1/conversations/${id}/messages`;
    const { body } = await api.get<Page<Message>>(`${path}?limit=1`);

    expect((await api.get(`${path}?page=${body.nextPage}`)).status).toBe(200);
    expectProblem(await api.get(`${path}?order=desc&page=${body.nextPage}`), 400, 'invalid_request');
    expectProblem(
      await api.get(`/v1/conversations/${other.id}/messages?page=${body.nextPage}`),
      400,
      'invalid_request',
    );
  });

  test('§7 conversations that are written in between two pages are not left out', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await openConversation()).id);
    const { body: first } = await api.get<Page<Conversation>>('/v1/conversations?limit=2');
    // The last of the page goes to the front.
    await patch(`/v1/conversations/${ids[3]}`, { title: 'new' });

    const { body: second } = await api.get<Page<Conversation>>(`/v1/conversations?limit=3&page=${first.nextPage}`);

    expect(first.items.map(({ id }) => id)).toEqual([ids[4], ids[3]]);
    expect(second.items.map(({ id }) => id)).toEqual([ids[2], ids[1], ids[0]]);
  });
});

describe('§2 read your writes', () => {
  test('a task that was created, cancelled or asked is read as such at once', async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await api.createTask({ agent: 'holder' });
      const { body: newest } = await api.get<Page<Task>>('/v1/tasks?limit=1');
      expect(newest.items).toMatchObject([{ id }]);

      await api.cancel(id);
      expect(await api.task(id)).toMatchObject({ status: 'cancelled' });
    }
  });

  test('after an event was seen, every read shows at least its state', async () => {
    const reader = await api.openStream('/v1/events?after=latest');
    const { id } = await api.createTask({ agent: 'asker', input: SPEC });
    const statuses: string[] = [];

    for (let done = false; !done; ) {
      const block = await reader.next();
      if (block === null || isSignal(block)) continue;
      const event: LogEvent = JSON.parse(block.data ?? '');
      const task = await api.task(id);
      expect(seqOf(task.cursor.last)).toBeGreaterThanOrEqual(event.seq);
      if (event.type === 'question.asked') {
        const asked = await api.get<Page<Question>>(`/v1/questions?taskId=${id}`);
        expect(asked.body.items).toMatchObject([{ id: event.data.question.id, status: 'pending' }]);
        await api.answer(event.data.question.id, 'yes');
      }
      statuses.push(task.status);
      done = event.type === 'task.completed';
    }
    reader.close();

    expect(statuses.at(-1)).toBe('completed');
  });

  test('an answered question is gone from the list of pending ones at once', async () => {
    const task = await api.run('asker', SPEC);
    const { id } = await api.pendingQuestion(task.id);

    await api.answer(id, 'yes');

    const { body } = await api.get<Page<Question>>(`/v1/questions?status=pending&taskId=${task.id}`);
    expect(body.items).toEqual([]);
  });
});

describe('§2 Holdfast-Cursor', () => {
  test('every JSON read of tasks and questions carries one', async () => {
    const reads = gets().filter((path) => path !== '/v1/agents');
    const answers = [
      ...(await Promise.all(reads.map((path) => api.get(path)))),
      await api.post('/v1/tasks', { agent: 'echo' }),
      await api.post('/v1/tasks?wait=60', { agent: 'echo' }),
      await api.get(`/v1/tasks/${finished.id}?wait=1`),
    ];

    for (const { headers } of answers) {
      expect(parseStartPoint(headers.get('Holdfast-Cursor') ?? '')).toMatchObject({ until: null });
    }
  });

  test('a read shows exactly the state at its cursor, while the task moves on', async () => {
    const { id } = await api.createTask({ agent: 'counter', input: 150 });
    const reads: { task: Task; seq: number }[] = [];
    for (let status: string = 'queued'; status !== 'completed'; ) {
      const one = await api.get<Task>(`/v1/tasks/${id}`);
      const list = await api.get<Page<Task>>('/v1/tasks?agent=counter&limit=1');
      for (const { headers, task } of [
        { headers: one.headers, task: one.body },
        { headers: list.headers, task: list.body.items[0] as Task },
      ]) {
        reads.push({ task, seq: seqOf(headers.get('Holdfast-Cursor')) });
      }
      status = one.body.status;
    }

    const events = await api.eventsOf(id);
    for (const { task, seq } of reads) {
      const known = events.filter((event) => event.seq <= seq);
      const progress = known.findLast(({ type }) => type === 'task.progress')?.data ?? null;
      expect({ at: seq, last: seqOf(task.cursor.last), progress: task.progress }).toEqual({
        at: seq,
        last: known.at(-1)?.seq,
        progress,
      });
    }
    expect(new Set(reads.map(({ task }) => task.progress?.note)).size).toBeGreaterThan(3);
  });

  test('a stream from the cursor of a POST misses nothing that came later', async () => {
    for (let round = 0; round < 20; round++) {
      const created = await api.post<Task>('/v1/tasks', { agent: 'echo' });
      const cursor = created.headers.get('Holdfast-Cursor');
      const shown = created.body;

      const reader = await api.openStream(`/v1/tasks/${shown.id}/events?after=${cursor}`);
      const first = await reader.until(isType('task.started'));
      reader.close();

      expect(shown.status).toBe('queued');
      expect(seqOf(first.id)).toBeGreaterThan(seqOf(shown.cursor.last));
    }
  });

  test('a stream from the cursor of an answer has all that the answer set going', async () => {
    for (let round = 0; round < 20; round++) {
      const task = await api.run('asker', SPEC);
      const { id } = await api.pendingQuestion(task.id);
      const { headers } = await api.answer(id, 'yes');

      const reader = await api.openStream(`/v1/tasks/${task.id}/events?after=${headers.get('Holdfast-Cursor')}`);
      const types = (await reader.rest()).flatMap(({ event, data }) =>
        event === null ? JSON.parse(data ?? '').type : [],
      );

      expect(types).toEqual(['task.completed']);
    }
  });

  test('cursor.before is just before the first event of a task, cursor.last at its newest', async () => {
    const { id } = await api.run('asker', SPEC);
    const { cursor } = await api.task(id);

    const reader = await api.openStream(`/v1/events?after=${cursor.before}`);
    const first = await reader.until(({ data }) => data?.includes(id) ?? false);
    const last = await reader.until(isType('task.waiting'));
    reader.close();

    expect(JSON.parse(first.data ?? '').type).toBe('task.created');
    expect(seqOf(first.id)).toBe(seqOf(cursor.before) + 1);
    expect(last.id).toBe(cursor.last);
  });
});

describe('§2 404 and 405', () => {
  test('an id that nobody has is one and the same 404, whatever is asked of it', async () => {
    const tasks = [
      await api.get(`/v1/tasks/${UNKNOWN_TASK}`),
      await api.cancel(UNKNOWN_TASK),
      await api.post(`/v1/tasks/${UNKNOWN_TASK}/retry`),
      await api.get(`/v1/tasks/${UNKNOWN_TASK}/events`),
    ];
    const questions = [
      await api.get(`/v1/questions/${UNKNOWN_QUESTION}`),
      await api.answer(UNKNOWN_QUESTION, 1),
      await api.post(`/v1/questions/${UNKNOWN_QUESTION}/decline`),
    ];

    for (const answers of [tasks, questions]) {
      for (const answer of answers) expectProblem(answer, 404, 'not_found');
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }
  });

  test('what has not the form of an id, or is the id of something else, is 404', async () => {
    const odd = [
      'x',
      '%00',
      '..%2f..%2fetc%2fpasswd',
      waiting.id.toUpperCase(),
      `${waiting.id}0`,
      question.id,
      '%F0%9F%98%80',
    ];

    for (const id of odd) expectProblem(await api.get(`/v1/tasks/${id}`), 404, 'not_found');
    for (const id of [...odd.filter((each) => each !== question.id), waiting.id]) {
      expectProblem(await api.get(`/v1/questions/${id}`), 404, 'not_found');
    }
  });

  test('a method that a path does not take is 405 with those that it takes', async () => {
    const allowed: [string, string][] = [
      ['/v1/agents', 'GET, HEAD, OPTIONS'],
      ['/v1/tasks', 'GET, HEAD, OPTIONS, POST'],
      [`/v1/tasks/${waiting.id}`, 'GET, HEAD, OPTIONS'],
      [`/v1/tasks/${waiting.id}/cancel`, 'OPTIONS, POST'],
      [`/v1/tasks/${waiting.id}/retry`, 'OPTIONS, POST'],
      [`/v1/tasks/${waiting.id}/events`, 'GET, HEAD, OPTIONS'],
      ['/v1/events', 'GET, HEAD, OPTIONS'],
      ['/v1/questions', 'GET, HEAD, OPTIONS'],
      [`/v1/questions/${question.id}`, 'GET, HEAD, OPTIONS'],
      [`/v1/questions/${question.id}/answers`, 'OPTIONS, POST'],
      [`/v1/questions/${question.id}/decline`, 'OPTIONS, POST'],
      ['/healthz', 'GET, HEAD, OPTIONS'],
      ['/readyz', 'GET, HEAD, OPTIONS'],
      ['/metrics', 'GET, HEAD, OPTIONS'],
      ['/openapi.json', 'GET, HEAD, OPTIONS'],
      ['/docs', 'GET, HEAD, OPTIONS'],
    ];

    for (const [path, methods] of allowed) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !methods.includes(each))) {
        const refused = await api.send(path, { method });

        expectProblem(refused, 405, 'method_not_allowed');
        expect(refused.headers.get('Allow')?.split(', ').sort().join(', ')).toBe(methods);
      }
    }
  });
});

describe('§2 forms', () => {
  test('an id is a prefix and a UUIDv7 in 26 characters of Crockford base32, so that later ones sort later', async () => {
    const before = Date.now();
    const task = await api.run('asker', SPEC);
    const { id } = await api.pendingQuestion(task.id);
    const later = await api.run('asker', SPEC);

    expect(task.id).toMatch(/^task_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(id).toMatch(/^qst_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(later.id > task.id).toBe(true);
    for (const each of [task.id, id]) {
      const { version, variant, ms } = uuidIn(each);
      expect({ version, variant }).toEqual({ version: 7, variant: 2 });
      expect(ms).toBeGreaterThanOrEqual(before);
      expect(ms).toBeLessThanOrEqual(Date.now());
    }
  });

  test('times are ISO 8601 in UTC with milliseconds', async () => {
    const asked = await api.question(question.id);
    const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

    for (const time of [finished.createdAt, finished.startedAt, finished.finishedAt, asked.askedAt, asked.expiresAt]) {
      expect(time).toMatch(iso);
    }
  });

  test('any JSON comes back as it was sent, every key and character of it', async () => {
    const input = String.raw`{"nul":"a\u0000b","half":"\ud83d","emoji":"😀 ü 漢字","__proto__":{"x":1},"constructor":1,"":[],"big":9007199254740991,"e":1e-7,"s":"  \r\n\t</script>"}`;

    const { body } = await api.post<Task>('/v1/tasks?wait=60', `{"agent":"echo","input":${input}}`);
    const read = await api.get(`/v1/tasks/${body.id}`);

    expect(body.output).toEqual(JSON.parse(input));
    expect(Object.keys(body.output as object)).toContain('__proto__');
    expect(read.body).toEqual(body);
  });

  test('the media type of what is read is application/json', async () => {
    for (const path of gets()) expect((await api.get(path)).headers.get('Content-Type')).toBe('application/json');
  });
});

function uuidIn(id: string): { version: number; variant: number; ms: number } {
  const digits = [...id.slice(id.indexOf('_') + 1)].map((digit) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit));
  const uuid = digits.reduce((value, digit) => (value << 5n) | BigInt(digit), 0n);
  return {
    ms: Number(uuid >> 80n),
    version: Number((uuid >> 76n) & 15n),
    variant: Number((uuid >> 62n) & 3n),
  };
}
