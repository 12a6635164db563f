import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from '../support/raw-http.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess();
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/** Every header once, and how often it came. */
async function headersOf(bytes: string): Promise<Map<string, string[]>> {
  const { head } = await sendRaw(server.url, bytes);
  const headers = new Map<string, string[]>();
  for (const line of head.split('\r\n').slice(1)) {
    const [name = '', value = ''] = line.split(/: (.*)/);
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  return headers;
}

test.each([
  ['JSON', 'GET /v1/agents HTTP/1.1\r\nHOST\r\n\r\n'],
  ['a stream', 'GET /v1/events HTTP/1.1\r\nHOST\r\n\r\n'],
  ['the head of a stream', 'HEAD /v1/events HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'],
  ['a 404', 'GET /v1/tasks/x HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'],
  ['no path of ours', 'GET /nothing HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'],
  ['a 405', 'PUT /v1/tasks HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'],
  ['OPTIONS', 'OPTIONS /v1/tasks HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'],
  ['metrics', 'GET /metrics HTTP/1.1\r\nHOST\r\n\r\n'],
  ['a Host that is none', 'GET /v1/agents HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
  ['what is no HTTP', 'GET\r\n\r\n'],
])('%s is what it says it is, runs nothing and is for no other origin', async (_what, bytes) => {
  const headers = await headersOf(bytes);

  for (const [name, value] of Object.entries(EVERYWHERE)) expect(headers.get(name), name).toEqual([value]);
  expect(headers.get('content-security-policy')).toEqual(["default-src 'none'; frame-ancestors 'none'"]);
});

test.each(['/', '/docs', '/docs/start.js'])(
  '%s runs its own scripts, in no frame and no window of others',
  async (path) => {
    const headers = await headersOf(`GET ${path} HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n`);

    for (const [name, value] of Object.entries(EVERYWHERE)) expect(headers.get(name), name).toEqual([value]);
    const [policy = '', ...others] = headers.get('content-security-policy') ?? [];
    expect(others).toEqual([]);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get('cross-origin-opener-policy')).toEqual(['same-origin']);
    expect(headers.get('x-frame-options')).toEqual(['DENY']);
  },
);
