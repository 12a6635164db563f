import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEnding } from '../../src/client/ending.ts';
import type { Waker } from '../../src/client/environment.ts';
import { type FollowOptions, followLog } from '../../src/client/events/follow-log.ts';
import { createRequests } from '../../src/client/requests/request.ts';
import { type Api, createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
let api: Api;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
  api = createApi(server.url);
});
afterAll(() => server.stop());

/** Follows a task, and knows who still wants to be woken. */
function follow(taskId: string, canStream: boolean) {
  const listeners = new Set<object>();
  const listen: Waker['onWake'] = (listener) => {
    const own = { listener };
    listeners.add(own);
    return () => listeners.delete(own);
  };
  const options: FollowOptions = {
    ...{ requests: createRequests({ url: server.url }, createEnding()), canStream, after: '0' },
    ...{ waker: { onWake: listen }, network: { isOnline: () => true, onOffline: (listener) => listen(listener) } },
    ...{ query: { path: `/v1/tasks/${taskId}/events`, types: [] }, signal: new AbortController().signal },
    report: () => {},
  };
  return { frames: followLog(options), listeners };
}

test.each([
  ['a stream', true],
  ['polling', false],
])('%s leaves nothing that listens behind, whether it ends or nobody wants more', async (_, canStream) => {
  const { id } = await api.run('closer', { before: 3 });
  const left = follow(id, canStream);
  for await (const frame of left.frames) if (frame.items.length > 0) break;
  await api.answer((await api.pendingQuestion(id)).id, true);
  const ended = follow(id, canStream);
  let frames = 0;
  for await (const _frame of ended.frames) frames += 1;

  expect(frames).toBeGreaterThan(0);
  expect([left.listeners.size, ended.listeners.size]).toEqual([0, 0]);
});
