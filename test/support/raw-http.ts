import { connect } from 'node:net';
import { expect } from 'vitest';
import type { Problem } from './api.ts';

/** What came back on a connection of its own; status 0 and no text when it was closed without a word. */
export interface RawAnswer {
  status: number;
  /** The status line and the headers, as they stood on the wire. */
  head: string;
  body: string;
}

/**
 * Sends bytes as they are, and gives what came back until the server closed. Of what is granted only the head is waited
 * for, since a stream has no end.
 *
 * @param bytes one character a byte; `HOST` stands for the line of a good Host
 * @param options.breaksOff whether it ends its side behind them: a request on which the server works is given up by that
 */
export function sendRaw(url: string, bytes: string, { breaksOff = false } = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
      if (/^HTTP\/1\.1 2/.test(text) && text.includes('\r\n\r\n')) socket.destroy();
    });
    // Being cut off is an answer too.
    socket.on('error', () => {});
    socket.on('close', () => {
      const [head = '', ...body] = text.split('\r\n\r\n');
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0), head, body: body.join('\r\n\r\n') });
    });
    socket.write(Buffer.from(bytes.replace('HOST', `Host: 127.0.0.1:${port}`), 'latin1'));
    if (breaksOff) socket.end();
  });
}

/** How Node itself refuses HTTP/1.1 without a Host, before the server hears of it. */
const REFUSED_BY_NODE = /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/;

/** Expects that a connection was closed, silently or after a 4xx, which is a problem unless it is Node's own. */
export function expectRawRefusal({ status, head, body }: RawAnswer, bytes: string): void {
  if (head === '' || REFUSED_BY_NODE.test(`${head}\r\n`)) return;
  const request = JSON.stringify(bytes.slice(0, 200));
  expect(head, request).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(`${head}\r\n`, request).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i);
  if (/^HEAD /.test(bytes)) return;
  const problem: Problem = JSON.parse(/^\{.*\}/s.exec(body)?.[0] ?? 'null');
  expect(problem?.status, request).toBe(status);
  expect(problem.code, request).toMatch(/^[a-z_]+$/);
}
