import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import { type Api, createApi, TASK_AGENTS } from '../support/api.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { expectRawRefusal, type RawAnswer, sendRaw } from '../support/raw-http.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** Change it to look elsewhere; a failure names the request. */
const SEED = 20_261_201;

interface Document {
  paths: { [path: string]: { [method: string]: { responses: object; parameters: { name: string }[] } } };
}

/** One method of one path, as the OpenAPI document has it; HEAD wherever it has GET. */
interface Route {
  method: string;
  path: string;
  /** The statuses of success that it documents. */
  good: number[];
  isStream: boolean;
}

let server: ServerProcess;
let api: Api;
let routes: Route[];
/** What stands for each parameter of a path: the ids of a task that waits, its question and a conversation, and a file of /docs. */
let ids: { [parameter: string]: string };

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
  const task = await api.run('asker', { items: [{ id: 'a', prompt: 'Well?' }] });
  const questionId = (await api.pendingQuestion(task.id)).id;
  const { text: page } = await api.get('/');
  const [, asset = ''] = /console\/(console-\w+\.js)/.exec(page) ?? [];
  ids = { taskId: task.id, questionId, conversationId: await openConversation(), file: 'swagger-ui.css', asset };
  const { body } = await api.get<Document>('/openapi.json');
  routes = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const good = Object.keys(responses)
        .map(Number)
        .filter((status) => status < 300);
      const isStream = path.endsWith('/events');
      const upper = method.toUpperCase();
      return (upper === 'GET' ? ['GET', 'HEAD'] : [upper]).map((each) => ({ method: each, path, good, isStream }));
    }),
  );
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

async function openConversation(): Promise<string> {
  return (await api.post<Conversation>('/v1/conversations', { title: 'As it was' })).body.id;
}

const BODIES: { [ending: string]: string } = {
  ...{ answers: '{"answer":"x"}', cancel: '{}', decline: '{}', tasks: '[]' },
  ...{ conversations: '{}', messages: '{"content":"x"}', '{conversationId}': '{}' },
};

const takesBody = ({ method }: Route) => method === 'POST' || method === 'PATCH';
const isRead = ({ method }: Route) => method === 'GET' || method === 'HEAD';
/** One that can be sent to what is there again and again. */
const isHarmless = ({ method }: Route) => method !== 'POST' && method !== 'DELETE';

/** What is sent of a route, its path with `id` for the parameter; null leaves the id of what is there. */
function request(route: Route, id: string | null, headers: readonly string[] = []): string {
  const { method, path } = route;
  const target = path.replace(/\{(\w+)\}/, (_, parameter) => id ?? ids[parameter] ?? '');
  const body = takesBody(route) ? (BODIES[path.split('/').at(-1) ?? ''] ?? '') : '';
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const typed = headers.some((line) => /^content-type:/i.test(line));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'HOST',
    'Connection: close',
    ...(takesBody(route) && !framed ? [`Content-Length: ${body.length}`] : []),
    ...(takesBody(route) && !typed ? ['Content-Type: application/json'] : []),
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function expectRefusal(answer: RawAnswer, bytes: string): void {
  expect(answer.status, bytes.slice(0, 300)).not.toBe(0);
  expectRawRefusal(answer, bytes);
}

/** A 4xx, or a success that the document has for the route. */
function expectRefusalOr(good: readonly number[], answer: RawAnswer, bytes: string): void {
  if (!good.includes(answer.status)) expectRefusal(answer, bytes);
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** What no id can be, for an id that is there. */
function strangeIds(id: string): string[] {
  const strange = [
    ...['', '.', '...', '~', '*', '-1', '0', '1e9', 'null', 'undefined', 'NaN', '__proto__', 'constructor', 'toString'],
    ...['%', '%%', '%z', '%zz', '%0', '%u0041', '%25', '%2525'],
    ...['%00', '%0a', '%0d%0aX:%20y', '%09', '%7f', '%20', '+', '%2b'],
    ...['%2f', '%2F..%2f', '..%2f..%2fetc%2fpasswd', '%5c', '..%5c', '%2e%2e%2fevents', '%3f', '%23', '%3b', ';a=b'],
    ...['%ff', '%ff%fe', '%c0%ae', '%c3', '%ed%a0%80', '%f4%90%80%80', '%ef%bb%bf', '%F0%9F%98%80', '%e2%80%ae'],
    ...[latin1('ü'), latin1('😀'), latin1('\u202e'), latin1('１'), '\xff', '\x80\x80'],
    ...['task_', 'qst_', 'conv_', 'task_%00', '{{7*7}}', "'--", '"', '<script>', '$(x)', '`', '|', '^', '[]'],
    ...['x'.repeat(300), 'x'.repeat(8000), '%41'.repeat(2000), '%'.repeat(3000), '.'.repeat(3000)],
    ...[
      id.toUpperCase(),
      id.slice(0, -1),
      `${id}0`,
      `${id}%00`,
      `${id}%20`,
      `%20${id}`,
      `${id}.`,
      `${id};x`,
      `${id},${id}`,
    ],
    ...[`${id}%2f`, `${id}%2fevents`, `${id}%3fwait=1`, `${id}%23`, `${id}%0d%0a`, id.replace('_', '-'), id.slice(5)],
    id.replace(/.$/, 'u'),
    id.startsWith('task_') ? (ids.questionId ?? '') : (ids.taskId ?? ''),
  ];
  return strange.filter((each) => each !== id);
}

const CHARACTERS = 'abcdefghjkmnpqrstvwxyz0123456789ilouABZ_-.~!*()@:;,=+$&\'"<>[]{}|\\^`';

/** An id with some characters replaced, doubled, cut out, or written as bytes that were drawn. */
function woundedId(id: string, dice: Dice): string {
  let wounded = id;
  for (let wounds = 1 + dice.below(3); wounds > 0; wounds--) {
    const at = dice.below(wounded.length + 1);
    const byte = dice.below(256);
    const piece = dice.pick([
      '',
      dice.pick([...CHARACTERS]),
      `%${byte.toString(16).padStart(2, '0')}`,
      String.fromCharCode(128 + (byte % 128)),
      wounded.slice(at, at + 2).repeat(2),
    ]);
    wounded = wounded.slice(0, at) + piece + wounded.slice(at + dice.below(2));
  }
  return wounded;
}

/** Whether a server that decodes the percents would be right to find the id in it. */
function means(text: string, id: string): boolean {
  try {
    return decodeURIComponent(text) === id;
  } catch {
    return false;
  }
}

describe('§2 in the place of an id', () => {
  test('what is none is a 4xx with every method of every route', async () => {
    const withId = routes.filter(({ path }) => path.includes('{'));
    for (const route of withId) {
      for (const id of strangeIds(ids[/\{(\w+)\}/.exec(route.path)?.[1] ?? ''] ?? '')) {
        const bytes = request(route, id);

        expectRefusal(await sendRaw(api.url, bytes), bytes);
      }
    }
    expect(withId.map(({ method, path }) => `${method} ${path}`)).toEqual(
      expect.arrayContaining([
        'HEAD /v1/tasks/{taskId}/events',
        'POST /v1/questions/{questionId}/answers',
        'DELETE /v1/conversations/{conversationId}',
      ]),
    );
  });

  test('what is none is a 404 wherever it is good HTTP, and before the body and the query are looked at', async () => {
    const odd = ['x', '%00', '%zz', '%ff', '%F0%9F%98%80', 'x'.repeat(300), '%2f', '..%2f..%2fetc%2fpasswd'];
    for (const route of routes.filter(({ path }) => path.includes('{'))) {
      for (const id of odd) {
        const bytes = request(route, id, ['Content-Type: text/plain']).replace(' HTTP/1.1', '?limit=x HTTP/1.1');

        const { status } = await sendRaw(api.url, bytes);

        expect(status, bytes.slice(0, 200)).toBe(404);
      }
    }
  });

  test('one with a wound is a 4xx, unless it means the same still', async () => {
    const dice = diceOf(SEED);
    const withId = routes.filter(({ path }) => path.includes('{'));
    for (let i = 0; i < 500; i++) {
      const route = dice.pick(withId);
      const id = ids[/\{(\w+)\}/.exec(route.path)?.[1] ?? ''] ?? '';
      const wounded = woundedId(id, dice);
      if (means(wounded, id)) continue;
      const bytes = request(route, wounded);

      expectRefusal(await sendRaw(api.url, bytes), bytes);
    }
  });

  test.each(['.', '..', '%2e', '%2e%2e', '%2E%2E', '.%2e'])(
    '%s finds a route at most, and no more than it documents',
    async (dots) => {
      for (const route of routes.filter(({ path }) => path.includes('{'))) {
        const bytes = request(route, dots);

        expectRefusalOr([200], await sendRaw(api.url, bytes), bytes);
      }
    },
  );

  test('a path of strange pieces is a 4xx, whatever the method', async () => {
    const dice = diceOf(SEED + 1);
    const pieces = [
      'v1',
      'tasks',
      'questions',
      'events',
      'cancel',
      'answers',
      'conversations',
      'messages',
      '',
      '.x',
      '%2F',
      '%00',
      '%',
      '%zz',
      '%ff%fe',
    ];
    pieces.push('%F0%9F%98%80', '~', ';a=b', '*', 'task_', 'x'.repeat(300), "'--", '{{7*7}}', latin1('\u202e'), 'none');
    for (let i = 0; i < 300; i++) {
      const path = Array.from({ length: 1 + dice.below(6) }, () => dice.pick(pieces)).join('/');
      const method = dice.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
      const bytes = `${method} /v1/x/${path} HTTP/1.1\r\nHOST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

      expectRefusal(await sendRaw(api.url, bytes), bytes);
    }
  });
});

/** Headers that ask for what is not offered, or are malformed, and change nothing: they may be refused, or ignored. */
const IGNORABLE = [
  ...[
    'Accept:',
    'Accept: ;;;',
    'Accept: ,,,,',
    'Accept: text/html',
    'Accept: */*;q=0',
    'Accept: application/json;q=NaN',
  ],
  ...['Accept: application/json;q=2', 'Accept: application/json; q="1', 'Accept: \xff\xfe', 'Accept: a/b;q=0.00001'],
  `Accept: ${'text/event-stream,'.repeat(400)}`,
  `Accept: ${';q='.repeat(2000)}`,
  ...[
    'Range: bytes=0-10',
    'Range: bytes=-1',
    'Range: bytes=99999999999999999999-',
    'Range: lines=x',
    'Range: bytes=9-1',
  ],
  ...['If-Match: *', 'If-Match: "x"', 'If-None-Match: *', 'If-Modified-Since: never', 'If-Unmodified-Since: 0'],
  ...['Cache-Control: only-if-cached', 'TE: gzip', 'Accept-Encoding: gzip, br', 'Accept-Encoding: identity;q=0'],
  ...['Accept-Charset: utf-16', 'Upgrade: websocket', 'Upgrade: h2c', 'Prefer: wait=-1', 'Max-Forwards: -1'],
  ...['Cookie: \xff', 'User-Agent:', 'Referer: ::', 'X-Forwarded-For: x', 'X-Request-Id: \xff', 'Forwarded: for="_x'],
  ...['X-HTTP-Method-Override: DELETE', 'Trailer: Content-Length', 'Content-Range: bytes 0-1/2', 'Date: yesterday'],
];

const LAST_EVENT_IDS = [
  ...['x', '-1', '00', '1.2.3.4', 'abcdefgh.01', 'abcdefgh.-1', 'abcdefgh.9007199254740992', 'ABCDEFGH.1', 'abcdefgh.'],
  ...['abcdefgh.1.', 'abcdefgh.1e3', 'abcdefgh.0x1', 'abcdefgh.+1', 'abcdefgh. 1', 'latest.1', 'LATEST', '0,0', '0.0'],
  ...[
    '\xff',
    latin1('１'),
    latin1('abcdefgh.１'),
    'a'.repeat(65),
    'x'.repeat(8000),
    'null',
    '{}',
    '"0"',
    '0\t0',
    '%30',
  ],
];

const KEYS = ['', 'two words', '\xff', latin1('ü'), 'k'.repeat(256), 'k'.repeat(8000), 'a\tb'];

/** Each is refused by every route, whatever its method: nobody can tell where such a request ends. */
const UNFRAMED = [
  ...['Content-Length: -1', 'Content-Length: +1', 'Content-Length: 1x', 'Content-Length: 0x1', 'Content-Length: 1, 1'],
  ...[
    'Content-Length: 99999999999999999999',
    'Content-Length: 1\r\nContent-Length: 2',
    'Content-Length: ,',
    'Content-Length: 1.0',
  ],
  ...['Content-Length: 0\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 3'],
  ...['Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: xyz'],
  ...['Transfer-Encoding : chunked', 'Transfer-Encoding:\x0bchunked', 'X: a\0b', 'Bad Header: x', ' folded: x', ': x'],
];

describe('§2 §5 with a wrong header', () => {
  test('that may be ignored, every route answers as it documents, or with a 4xx', async () => {
    for (const route of routes.filter(isHarmless)) {
      for (const header of IGNORABLE) {
        const bytes = request(route, null, [header]);

        expectRefusalOr(route.good, await sendRaw(api.url, bytes), bytes);
      }
    }
  });

  test('that may be ignored, a verb of what is unknown is still a 404', async () => {
    for (const route of routes.filter((each) => !isRead(each) && each.path.includes('{'))) {
      for (const header of IGNORABLE) {
        const bytes = request(route, 'unknown', [header]);

        expect((await sendRaw(api.url, bytes)).status, bytes.slice(0, 300)).toBe(404);
      }
    }
  });

  test('Last-Event-ID, every stream is a 400 before it begins, and every other route does not mind', async () => {
    for (const route of routes.filter(isHarmless)) {
      for (const value of LAST_EVENT_IDS) {
        for (const accept of ['text/event-stream', 'application/json']) {
          const bytes = request(route, null, [`Last-Event-ID: ${value}`, `Accept: ${accept}`]);

          const answer = await sendRaw(api.url, bytes);

          expect(answer.status, bytes.slice(0, 300)).toBe(route.isStream ? 400 : 200);
          if (route.isStream) expectRefusal(answer, bytes);
        }
      }
    }
  });

  test('Last-Event-ID given twice, a stream is a 400', async () => {
    for (const route of routes.filter(({ isStream }) => isStream)) {
      const bytes = request(route, null, ['Last-Event-ID: 0', 'Last-Event-ID: 0']);

      expect((await sendRaw(api.url, bytes)).status, bytes).toBe(400);
    }
  });

  test('Idempotency-Key, every POST is a 400, and what takes none does not mind', async () => {
    for (const route of routes.filter(({ method }) => method !== 'DELETE')) {
      for (const key of KEYS) {
        const bytes = request(route, null, [`Idempotency-Key: ${key}`]);

        const answer = await sendRaw(api.url, bytes);

        const takesKey = route.method === 'POST' && !/tickets|session/.test(route.path);
        expect([400, ...route.good], bytes.slice(0, 300)).toContain(answer.status);
        expect(answer.status === 400, bytes.slice(0, 300)).toBe(takesKey);
        if (takesKey) expectRefusal(answer, bytes);
      }
    }
  });

  test('that a DELETE has no use for, it does not mind', async () => {
    const [route] = routes.filter(({ method }) => method === 'DELETE');
    if (route === undefined) throw new Error('There is no DELETE.');
    for (const header of [...KEYS.map((key) => `Idempotency-Key: ${key}`), 'Last-Event-ID: x', 'Content-Type: \xff']) {
      const bytes = request(route, await openConversation(), [header]);

      expect((await sendRaw(api.url, bytes)).status, bytes.slice(0, 300)).toBe(204);
    }
  });

  test.each([
    ['Content-Type: text/plain'],
    ['Content-Type: application/json;charset=utf-16'],
    ['Content-Type: application/problem+json'],
    ['Content-Type: application/json, text/plain'],
    ['Content-Type: ;'],
    ['Content-Type: \xff'],
    ['Content-Encoding: br'],
    ['Content-Encoding: gzip, identity'],
  ])('%s, everything with a body is a 415', async (header) => {
    for (const route of routes.filter(takesBody)) {
      const bytes = request(route, null, [header]);

      const answer = await sendRaw(api.url, bytes);

      expect(answer.status, bytes).toBe(415);
      expectRefusal(answer, bytes);
    }
  });

  test('that leaves open where the request ends, every route is a 4xx', async () => {
    for (const route of routes) {
      for (const header of UNFRAMED) {
        const bytes = `${request(route, null, [header])}0\r\n\r\n`;

        expectRefusal(await sendRaw(api.url, bytes), bytes);
      }
    }
  });

  test('a transfer coding that nobody knows, every route is cut off or a 4xx', async () => {
    for (const route of routes) {
      // Of one that is cut off nobody knows whether it was done.
      const id = route.method === 'DELETE' ? await openConversation() : null;
      const bytes = request(route, id, ['Transfer-Encoding: xyz']);

      expectRefusalOr([0], await sendRaw(api.url, bytes), bytes);
    }
  });

  test('a body that a read has no use for does no harm, however it is framed', async () => {
    const bodies = [
      ['Content-Length: 5', 'hello'],
      ['Content-Length: 2\r\nContent-Type: application/json', '{}'],
      ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
      ['Transfer-Encoding: chunked', '5;ext="x"\r\nhello\r\n0\r\nTrailer: x\r\n\r\n'],
      ['Transfer-Encoding: chunked', 'zz\r\n'],
      ['Transfer-Encoding: chunked', 'ffffffffffffffff\r\n'],
      ['Content-Length: 500', 'short'],
    ];
    for (const route of routes.filter(isRead)) {
      for (const [header = '', body = ''] of bodies) {
        const bytes = `${request(route, null, [header])}${body}`;

        expectRefusalOr([...route.good, 0], await sendRaw(api.url, bytes, { breaksOff: true }), bytes);
      }
    }
  });
});

test('§2 after all of it the process is unharmed: nothing was a 5xx, what was there is as it was, tasks run, no stream is left', async () => {
  const streamsOpen = async () => /^holdfast_streams_open (\d+)$/m.exec((await api.get('/metrics')).text)?.[1];
  await expect.poll(streamsOpen, { timeout: 10_000 }).toBe('0');
  const { text } = await api.get('/metrics');

  expect(text.split('\n').filter((line) => /^holdfast_http_requests_total\{.*status="5/.test(line))).toEqual([]);
  expect((await api.question(ids.questionId ?? '')).status).toBe('pending');
  expect((await api.task(ids.taskId ?? '')).status).toBe('waiting');
  const { body } = await api.get(`/v1/conversations/${ids.conversationId}`);
  expect(body).toMatchObject({ title: 'As it was', metadata: {}, unfinishedTasks: [] });
  expect((await api.run('echo', 'well')).output).toBe('well');
  expect(server.stderr()).toBe('');
  process.kill(server.pid, 0);
});
