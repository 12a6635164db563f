import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEnding } from '../../src/client/ending.ts';
import { readPage } from '../../src/client/events/page.ts';
import { createRequests, type Requests } from '../../src/client/requests/request.ts';
import { createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const EVERYTHING = { path: '/v1/events', types: [] };

let server: ServerProcess;
let requests: Requests;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
  requests = createRequests({ url: server.url }, createEnding());
  await createApi(server.url).run('ticker', { count: 2 });
});
afterAll(() => server.stop());

// A reader takes a frame only where it has everything before `from`: what is no place would be taken everywhere.
function read(after: string | null): ReturnType<typeof readPage> {
  const { signal } = new AbortController();
  return readPage({ requests, waker: { onWake: () => () => {} }, query: EVERYTHING, after, waitSeconds: 0, signal });
}

test.each(['0', 'latest'])(
  'a page after `%s` begins nowhere, for nobody knows what stands before it',
  async (after) => {
    const { from, to } = await read(after);

    expect({ from, to }).toEqual({ from: null, to: expect.stringMatching(/^\w+\.\d+$/) });
  },
);

test('a page after a cursor begins there', async () => {
  const { to } = await read('latest');

  const { from } = await read(to);

  expect(from).toBe(to);
});
