import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

/** A conversation at whose question somebody else has been first: before the chat comes to it, or while it asks. */
async function openConversation(status: 'answered' | 'pending'): Promise<{ url: string; posted: string[] }> {
  const question = { id: 'q1', items: [{ id: 'place', prompt: 'Where to?' }] };
  const posted: string[] = [];
  const server = http.createServer((request, response) => {
    const { method, url = '' } = request;
    if (method === 'POST') {
      posted.push(url);
      response.writeHead(409).end('{"code":"question_resolved"}');
    } else if (url.includes('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [
        { type: 'question.asked', data: { question } },
        { type: 'task.completed', data: {} },
      ]) {
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      }
    } else if (url === '/v1/questions/q1') response.end(JSON.stringify({ ...question, status }));
    else response.end(JSON.stringify({ id: 'conv_1', resumeAfter: '0', unfinishedTasks: ['task_1'] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted };
}

async function chat(url: string, input: string): Promise<{ code: number; out: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/support-chat.ts', url, 'conv_1']);
  onTestFinished(() => void child.kill());
  child.stdin.end(input);
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, out };
}

test('the support chat does not ask again what has been answered', async () => {
  const { url, posted } = await openConversation('answered');

  const { code, out } = await chat(url, '');

  expect({ code, posted }).toEqual({ code: 0, posted: [] });
  expect(out).not.toContain('Where to?');
});

test.each([
  ['an answer', 'To the sea\n', '/v1/questions/q1/answers'],
  ['a refusal to answer', '\n', '/v1/questions/q1/decline'],
])('the support chat goes on when %s comes behind that of somebody else', async (_what, input, path) => {
  const { url, posted } = await openConversation('pending');

  const { code, out } = await chat(url, input);

  expect({ code, posted }).toEqual({ code: 0, posted: [path] });
  expect(out).toContain('answered elsewhere');
});
