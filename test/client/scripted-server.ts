import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that has been read to its end. */
export interface Heard {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answering = (response: ServerResponse, heard: Heard) => unknown;

/** A server that does what it is told, whatever HTTP allows: a proxy that fails, a portal, a connection that is cut. */
export interface ScriptedServer {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** Resolves once so many requests have been heard. */
  hears(count: number): Promise<void>;
}

/** @param script answers one request after the other, the last one all that follow */
export async function startScriptedServer(...script: Answering[]): Promise<ScriptedServer> {
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url = '', headers } = request;
    const answering = script[Math.min(heard.length, script.length - 1)];
    heard.push({ method, url, headers, body });
    for (const look of [...waiting]) look();
    await answering?.(response, { method, url, headers, body });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    hears: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (heard.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answering {
  return (response) => {
    const type = status < 300 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'Content-Type': type, ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers as Holdfast refuses. */
export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  more: object = {},
): Answering {
  return json(status, { type: 'x', title: 'x', status, detail: `It is ${code}.`, code, ...more }, headers);
}

/** Answers as a proxy does, or a captive portal. */
export function html(status: number): Answering {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'text/html' });
    response.end('<h1>Hello</h1>');
  };
}

/** Cuts the connection without an answer. */
export const cut: Answering = (response) => response.destroy();

/** Never answers, as one that is gone without a word. */
export const silence: Answering = () => {};
