import fc from 'fast-check';
import { anyJsonText, type Hints, oddText } from './odd-json.ts';

/** What stands for something of the server that is filled in when the request is sent. */
export const token = (kind: string) => fc.nat(60).map((n) => `{{${kind}:${n}}}`);
/** Which kind of thing a parameter of a path names. */
export const ID_KINDS: Record<string, string> = { taskId: 'task', questionId: 'qst', conversationId: 'conv' };

/** Of a path. */
export const oddSegment = fc.oneof(
  fc.constantFrom(
    '%',
    '%2',
    '%zz',
    '%00',
    '%2e%2e',
    '..',
    '.',
    '%2F',
    '%252e%252e%252f',
    '%c0%af',
    '%ed%a0%80',
    '%f0%9f%98%80',
    '%0d%0aX-Injected:%201',
    '*',
    ':taskId',
    '{taskId}',
    '__proto__',
    'task_',
    'TASK_00000000000000000000000000',
    'task_ooooooooooooooooooooooooii',
    'a'.repeat(5000),
  ),
  oddText.map((text) => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''))),
);

const oddCursor = fc.oneof(
  { weight: 4, arbitrary: token('cursor') },
  { weight: 1, arbitrary: token('cursor').map((cursor) => `${cursor}.99999`) },
  { weight: 1, arbitrary: token('cursor').map((cursor) => `${cursor}0`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '0',
      'latest',
      '00',
      '-1',
      '1',
      'a.1',
      'aaaaaaaa.9007199254740992',
      'aaaaaaaa.1.2.3',
      'x'.repeat(65),
    ),
  },
);

/** Values of query parameters that have a meaning of their own. */
export const PARAMETERS: Record<string, fc.Arbitrary<string>> = {
  wait: fc.constantFrom('0', '0.01', '0.1', '60', '60.1', '-1', '1e1', ' 1', '', 'NaN', '0x10'),
  limit: fc.constantFrom('1', '2', '50', '200', '201', '1000', '1001', '0', '-1', '1.5', '', '9'.repeat(20)),
  page: fc.oneof({ weight: 3, arbitrary: token('page') }, oddText.map(encode), fc.constantFrom('%', 'AAAA', 'dGFza3M')),
  after: oddCursor,
  taskId: token('task'),
  conversationId: token('conv'),
  types: fc.constantFrom(
    'task.*',
    'fuzz.mark',
    'question.*,task.completed',
    '*',
    'a.*'.repeat(40),
    '.',
    'a.b,'.repeat(30),
  ),
  event: fc.constantFrom('type', 'other'),
  agent: fc.constantFrom('fuzz-doer', 'nobody', 'UPPER', ''),
};

const AGENTS = [
  'fuzz-doer',
  'fuzz-doer',
  'fuzz-doer',
  'fuzz-echo',
  'fuzz-echo',
  'fuzz-asker',
  'fuzz-talker',
  'fuzz-failer',
];

const doing = fc
  .record({
    emits: fc.nat(3),
    asks: fc.nat(2),
    spawns: fc.nat(1),
    sleepMs: fc.constantFrom(0, 0, 0, 5, 1500),
    workMs: fc.constantFrom(0, 0, 0, 10),
    says: fc.constantFrom('', '', 'Hello.', 'é'.repeat(900)),
    fails: fc.constantFrom(false, false, true),
    more: oddText,
  })
  .map((plan) => JSON.stringify(plan));

/** Fields of bodies with a meaning of their own. */
export const HINTS: Hints = {
  agent: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...AGENTS).map((name) => JSON.stringify(name)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('"assistant"', '"chat"', '"trip-planner"', '"nobody"', 'null', '"a\\u0000"'),
    },
  ),
  input: fc.oneof(doing, doing, anyJsonText, fc.constantFrom('{"city":"Rome"}', '{"city":7}')),
  conversationId: fc.oneof(
    { weight: 2, arbitrary: fc.constant('null') },
    token('conv').map((id) => `"${id}"`),
  ),
  runAt: fc.constantFrom(
    'null',
    'null',
    '"2020-01-01T00:00:00Z"',
    '"2027-01-01T00:00:00+14:00"',
    '"2027-02-30T00:00:00Z"',
    '"now"',
  ),
  timeoutMs: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('1', '50', '5000', '1800000', '2592000000') },
    fc.constantFrom('2592000001', '0', '1.5', 'null'),
  ),
  content: fc.oneof(
    oddText.map((text) => JSON.stringify(text)),
    fc.constantFrom('"Hi"', '"Where to?"'),
  ),
  answer: fc.oneof(anyJsonText, fc.constantFrom('"Yes"', '"no"', 'true', '7', '["1"]')),
  answers: fc.oneof(
    fc.constantFrom(
      '{"a":"Yes","b":["1"]}',
      '{"a":"other","b":["__proto__","1"],"constructor":3,"d":false}',
      '{"a":"no","b":[]}',
      '{"__proto__":{"a":1},"a":"Yes","b":["1"]}',
      '{"a":"Yes"}',
    ),
    fc.constant('{"a":"And."}'),
    anyJsonText,
  ),
};

/** What clients, proxies and attackers put beside a request; the first three are of most interest. */
export const HEADERS: fc.Arbitrary<[string, string]>[] = [
  fc.tuple(
    fc.constant('Idempotency-Key'),
    fc.oneof(
      { weight: 4, arbitrary: fc.nat(300).map((n) => `key-${n}`) },
      fc.constantFrom('', ' ', 'a b', 'k'.repeat(255), 'k'.repeat(256), '\x7f', '\xff', '__proto__'),
    ),
  ),
  fc.tuple(
    fc.constant('Accept'),
    fc.constantFrom(
      'application/json',
      'application/json',
      'text/event-stream',
      '*/*',
      'application/json;q=0',
      ';;,,q=',
      'text/event-stream;q=NaN, application/*',
      'a/b,'.repeat(500),
    ),
  ),
  fc.tuple(fc.constant('Last-Event-ID'), oddCursor),
  fc.tuple(fc.constant('X-Request-Id'), fc.constantFrom('mine-1', 'x'.repeat(300), '<b>', '\xe9', 'a,b', '')),
  fc.tuple(fc.constant('Content-Encoding'), fc.constantFrom('gzip', 'identity', 'x')),
  fc.tuple(fc.constant('Accept-Encoding'), fc.constantFrom('gzip', 'gzip;q=0', '*', 'br, gzip;q=0.5')),
  fc.tuple(fc.constant('If-None-Match'), fc.constant('*')),
  fc.tuple(fc.constant('Range'), fc.constantFrom('bytes=0-1', 'bytes=-9999999999', 'x')),
  fc.tuple(fc.constant('X-Forwarded-Host'), fc.constant('evil.example')),
  fc.tuple(fc.constant('Holdfast-Owner'), fc.constantFrom('other', '', 'a b', '\xff')),
  fc.tuple(fc.constant('Origin'), fc.constantFrom('null', 'http://evil.example', 'x')),
  fc.tuple(fc.constant('X-HTTP-Method-Override'), fc.constant('DELETE')),
  fc.tuple(fc.constant('Cookie'), fc.constantFrom('a=b', '__Host-holdfast=x; __Host-holdfast=y', ';;;=;')),
  fc.tuple(fc.constant('Connection'), fc.constantFrom('close', 'keep-alive', 'upgrade, x')),
];

export const contentType = fc.oneof(
  { weight: 30, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'application/json; charset=utf-8',
    'application/json;charset=latin1',
    'text/plain',
    '',
    'application/json;;=',
    'APPLICATION/JSON',
  ),
);

export function encode(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''));
}
