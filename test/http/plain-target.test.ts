import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from '../support/raw-http.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess();
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

function status(target: string, host = 'HOST'): Promise<number> {
  return sendRaw(server.url, `GET ${target} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`).then(
    (answer) => answer.status,
  );
}

// Each leads to a route that there is, once somebody has made it simpler.
test.each([
  '/v1/../metrics',
  '/v1/./agents',
  '/v1/x/%2e%2e/agents',
  '/%761/agents',
  '/v1//agents',
  '//v1/agents',
  '/v1/agents%2f',
  '/v1/agents%00',
  '/healthz;x',
  'http://127.0.0.1/v1/../metrics',
])('%s is taken to the letter, and nothing is there', async (target) => {
  expect(await status(target)).toBe(404);
});

test.each(['/v1/agents', '/v1/agents?', '/docs?a=%2e%2e/..//', 'http://127.0.0.1/v1/agents'])(
  '%s is a path of ours',
  async (target) => {
    expect([200, 400]).toContain(await status(target));
  },
);

// Would fail if anything made a URL of them without asking whether it is one: those were a 500.
test.each(['/v1/agents', '/v1/events', '/', '/nothing'])('%s of a Host that is no URL is a 400', async (target) => {
  expect(await status(target, 'Host: 11111111111111111111')).toBe(400);
});
