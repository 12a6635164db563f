import type { Harvest } from './harvest.ts';
import type { OddRequest } from './operation-requests.ts';

/** The head and the body as they go over the wire. */
export function requestBytes(
  request: OddRequest,
  host: string,
  harvest: Harvest,
  own: readonly [name: string, value: string][],
): Buffer {
  const { method, framing } = request;
  const target = harvest.fill(request.target);
  const body = request.body === null ? null : Buffer.from(harvest.fill(request.body));
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of [...own, ...request.headers]) lines.push(`${name}: ${harvest.fill(value)}`);
  if (body !== null)
    lines.push(framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === null) return head;
  return Buffer.concat(framing === 'chunked' ? [head, ...chunksOf(body)] : [head, body]);
}

/** In two chunks, and the last one. */
function chunksOf(body: Buffer): Buffer[] {
  const half = body.length >> 1;
  const chunks = [body.subarray(0, half), body.subarray(half)].filter((chunk) => chunk.length > 0);
  return [
    ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
    Buffer.from('0\r\n\r\n'),
  ];
}
