import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Connection } from './connection.ts';
import { faultOf } from './judge.ts';

const GOOD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n';
const PROBLEM = 'Content-Type: application/problem+json\r\nX-Content-Type-Options: nosniff\r\n';
const LEAVES_MS = 30;
const PATIENT_MS = 5000;
const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n';

function problem(status: number, code: string, more = ''): string {
  const body = JSON.stringify({ status, code, detail: 'Words.' });
  return `HTTP/1.1 ${status} X\r\n${PROBLEM}${more}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** What the judge says when a server answers with these bytes and closes, or stays and is left. */
async function judged(bytes: string, stays = false): Promise<string | null> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (stays) socket.write(bytes, 'latin1');
    else socket.end(bytes, 'latin1');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const connection = await Connection.open(`http://127.0.0.1:${port}`);
  return faultOf(
    await connection.ask(Buffer.from('GET / HTTP/1.1\r\n\r\n'), { leaveAfterMs: stays ? LEAVES_MS : PATIENT_MS }),
    false,
  );
}

describe('The judge of the fuzzer', () => {
  test.each([
    ['JSON', `${GOOD}Content-Length: 2\r\n\r\n{}`],
    ['chunks', `${GOOD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`],
    ['a problem', problem(404, 'not_found')],
    ['a 503 that says when to come back', problem(503, 'overloaded', 'Retry-After: 1\r\n')],
    ['a stream with its end', `${STREAM}: ok\nretry: 1000\nevent: end\ndata: {}\nid: a.1\n\n`],
  ])('takes %s', async (_what, bytes) => {
    expect(await judged(bytes)).toBeNull();
  });

  test.each([
    ['a 500', problem(500, 'internal'), 'a 500'],
    ['a 503 alone', problem(503, 'overloaded'), 'a 503 without Retry-After'],
    ['an unknown code', problem(400, 'odd_code'), 'an unknown code odd_code'],
    [
      'an error in HTML',
      'HTTP/1.1 404 X\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 3\r\n\r\n<p>',
      'no problem+json',
    ],
    ['no nosniff', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'no nosniff'],
    ['broken JSON', `${GOOD}Content-Length: 1\r\n\r\n{`, 'cannot be read'],
    ['a header of the client', `${GOOD}X-Injected: 1\r\nContent-Length: 2\r\n\r\n{}`, 'was injected'],
    ['half an answer', `${GOOD}Content-Length: 9\r\n\r\n{}`, 'closed in the middle'],
    ['a bare LF in a head', `${GOOD}X: a\nb\r\nContent-Length: 0\r\n\r\n`, 'No header'],
    ['silence', '', 'closed without an answer'],
    ['a stream that just stops', `${STREAM}: ok\nretry: 1000\ndata: {}\nid: a.1\n\n`, 'a stream that ends with'],
    ['a stream of something else', `${STREAM}hello\n\n`, 'does not begin with'],
  ])('finds %s', async (_what, bytes, fault) => {
    expect(await judged(bytes)).toContain(fault);
  });

  test('takes a stream that it has left, and looks at what came of it', async () => {
    expect(await judged(`${STREAM}: ok\nretry: 1000\n`, true)).toBeNull();
    expect(await judged(`${STREAM}: ok\n<script>\n`, true)).toContain('no line of a stream');
  });
});
