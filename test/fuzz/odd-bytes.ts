import fc from 'fast-check';

/** Bytes that are thrown at the server: no HTTP, nearly HTTP, or HTTP of a kind that nobody sends. */
export interface OddBytes {
  kind: string;
  /** One character a byte; tokens are still to be filled in, and `{{host}}`. */
  text: string;
  /** Whether something may be answered before this side is ended; nothing is, where all is cut short. */
  mayAnswer: boolean;
  /** Whether the connection is reset as soon as it was sent. */
  resets: boolean;
}

const METHODS = [
  'GET',
  'POST',
  'HEAD',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'PUT',
  'TRACE',
  'CONNECT',
  'PRI',
  'get',
  'FOO',
  '',
  'G\0T',
  'BREW',
  'M-SEARCH',
  'QUERY',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.9',
  'HTTP/1.1 ',
  'HTP/1.1',
  '',
  'http/1.1',
];
const TARGETS = [
  '/',
  '*',
  '/v1/tasks',
  '/v1/agents',
  '/healthz',
  '/v1/tasks/{{task:3}}',
  '/v1/tasks/{{task:3}}/events',
  '/v1/events?after={{cursor:1}}',
  'http://{{host}}/v1/agents',
  'https://evil.example/v1/tasks',
  'http://[::1',
  'http://a:b@{{host}}/',
  '//evil.example/v1/agents',
  '/\\evil.example',
  '/v1/../v1/agents',
  '/v1/%2e%2e/metrics',
  '/v1/tasks/%',
  '/v1/tasks/%00',
  '/v1/tasks/%E0%A4%A',
  '/v1/agents\0',
  '/v1/agents#fragment',
  '/v1/agents?\xff\xfe=%ff',
  '/v1/agents?__proto__=1&constructor[prototype][x]=1',
  '/v1/tasks?page=%F0%28%8C%28',
  '/\xe2\x80\xae',
  '/console/..%2f..%2fpackage.json',
  '/docs/..%5c..%5cpackage.json',
  '{{host}}:443',
  '',
  ' ',
  '/a b',
  'javascript:alert(1)',
  'file:///etc/passwd',
];
const LINES = [
  'Host: {{host}}',
  'Host: evil.example',
  'Host:',
  'Host: a\r\nHost: b',
  'Host: [::1]:1',
  'Host: a b',
  'Host : x',
  ' folded',
  '\tfolded',
  'Content-Length: 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5, 5',
  'Content-Length: -1',
  'Content-Length: +5',
  'Content-Length: 0x5',
  'Content-Length: 99999999999999999999',
  'Content-Length: 4194305',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding : chunked',
  'TE: trailers',
  'Trailer: Content-Length',
  'Expect: 100-continue',
  'Expect: 200-maybe',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA',
  'Connection: close',
  'Connection: keep-alive, close, x',
  'Content-Type: application/json',
  'Content-Type: multipart/form-data; boundary=',
  'Accept: text/event-stream',
  'Accept: application/json',
  'Idempotency-Key: a\x01b',
  'Last-Event-ID: \xc3\xa9',
  'Last-Event-ID: {{cursor:5}}',
  'Authorization: Bearer \xff',
  'Authorization: Basic Og==',
  'Cookie: a=\x00',
  'Origin: null',
  'Origin: http://evil.example',
  'Sec-Fetch-Site: cross-site',
  'X: \x80\x81',
  'X-\xe9: 1',
  ': no name',
  'no colon',
  'A:b\nB:c',
  'A:b\rB:c',
  'X: a\0b',
  '__proto__: x',
  'constructor: x',
];
const BODIES = [
  '',
  '{"agent":"fuzz-echo"}',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n',
  '15\r\n{"agent":"fuzz-echo"}\r\n0\r\n\r\n',
  '5\r\nhel',
  'fffffffffffffffff\r\n',
  '-1\r\n',
  'zz\r\nhello\r\n',
  '5\nhello\n0\n\n',
  '0\r\n\r\nGET /v1/agents HTTP/1.1\r\nHost: {{host}}\r\n\r\n',
  'hello',
  '\0'.repeat(100),
  '\xff\xfe\xfd',
];

const line = fc.constantFrom(...LINES);
const junk = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'));

const composed = fc
  .record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('GET', 'POST') }, fc.constantFrom(...METHODS)),
    target: fc.constantFrom(...TARGETS),
    version: fc.constantFrom(...VERSIONS),
    separator: fc.oneof({ weight: 20, arbitrary: fc.constant(' ') }, fc.constantFrom('  ', '\t', '')),
    end: fc.oneof({ weight: 20, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r', '\r\r\n')),
    host: fc.nat(4),
    lines: fc.array(line, { maxLength: 5 }),
    body: fc.constantFrom(...BODIES),
  })
  .map(({ method, target, version, separator, end, host, lines, body }) => {
    const all = host === 0 ? lines : ['Host: {{host}}', ...lines];
    return `${method}${separator}${target}${separator}${version}${end}${all.map((text) => text + end).join('')}${end}${body}`;
  });

/** Some that are good, one behind the other, and one that need not be. */
const pipelined = fc
  .tuple(
    fc.array(fc.constantFrom('/healthz', '/v1/agents', '/v1/tasks/{{task:1}}', '/v1/nothing', '/openapi.json'), {
      minLength: 2,
      maxLength: 8,
    }),
    composed,
  )
  .map(
    ([targets, last]) => targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: {{host}}\r\n\r\n`).join('') + last,
  );

const flood = fc
  .tuple(
    fc.constantFrom(50, 500, 2000, 3000),
    fc.constantFrom('X', 'Host', 'Content-Length', 'Cookie', 'Accept'),
    fc.nat(30),
  )
  .map(
    ([count, name, length]) =>
      `GET /v1/agents HTTP/1.1\r\n${`${name}: ${'1'.repeat(length)}\r\n`.repeat(count)}Host: {{host}}\r\n\r\n`,
  );

const long = fc.tuple(fc.constantFrom(8000, 16_300, 16_384, 16_400, 70_000), fc.nat(4)).map(([length, place]) => {
  const much = 'a'.repeat(length);
  const [target, header] = [`GET /${much} HTTP/1.1`, `GET / HTTP/1.1\r\nHost: {{host}}\r\nX: ${much}\r\n\r\n`];
  if (place === 0) return `${target}\r\nHost: {{host}}\r\n\r\n`;
  if (place === 1) return header;
  if (place === 2) return `GET / HTTP/1.1\r\nHost: {{host}}\r\n${much}: 1\r\n\r\n`;
  return place === 3 ? much : `GET /v1/agents?${'a=b&'.repeat(length / 8)} HTTP/1.1\r\nHost: {{host}}\r\n\r\n`;
});

const cut = fc
  .tuple(composed, fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([text, part]) => text.slice(0, text.length * part));

const KINDS: { weight: number; kind: string; text: fc.Arbitrary<string>; mayAnswer: boolean }[] = [
  { weight: 12, kind: 'composed', text: composed, mayAnswer: true },
  { weight: 2, kind: 'pipelined', text: pipelined, mayAnswer: true },
  { weight: 1, kind: 'flood', text: flood, mayAnswer: true },
  { weight: 1, kind: 'long', text: long, mayAnswer: true },
  { weight: 3, kind: 'cut', text: cut, mayAnswer: false },
  { weight: 1, kind: 'junk', text: junk, mayAnswer: false },
];

export const oddBytes: fc.Arbitrary<OddBytes> = fc.oneof(
  ...KINDS.map(({ weight, kind, text, mayAnswer }) => ({
    weight,
    arbitrary: fc
      .tuple(text, fc.nat(9))
      .map(([bytes, chance]): OddBytes => ({ kind, text: bytes, mayAnswer, resets: chance === 0 })),
  })),
);
