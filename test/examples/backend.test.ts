import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, root, start } from '../cli/running-server.ts';
import { createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken } from '../support/token.ts';

const dataDir = newDirectory();
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  server = await startServerProcess({ dataDir, agents: TASK_AGENTS, flags: ['--auth', 'token'] });
  const scopes = ['impersonate', 'tasks:read', 'tasks:write', 'questions:answer'] as const;
  const { token } = await makeToken(dataDir, 'backend', scopes);
  const program = path.join(root, 'examples/backend/serve.mjs');
  const serving = start(process.execPath, [program, server.url, '0'], {
    env: { ...process.env, HOLDFAST_TOKEN: token },
  });
  [url = ''] = await serving.printed(/http:\S+(?=\/)/);
});
afterAll(async () => {
  await cleanUp();
  expect(await server.stop()).toBe(0);
});

async function signIn(name: string): Promise<{ Cookie: string }> {
  const { headers } = await createApi(url).post(`/sign-in/${name}`);
  return { Cookie: headers.get('Set-Cookie')?.split(';')[0] ?? '' };
}

test('users of a server share a Holdfast, and see nothing of each other', async () => {
  const api = createApi(url);
  const [ann, bob] = [await signIn('ann'), await signIn('bob')];
  const task = await api.createTask({ agent: 'asker', input: { items: [{ id: 'word', prompt: 'Which?' }] } }, ann);
  const reader = await openSseReader(`${url}/v1/tasks/${task.id}/events`, ann);
  await reader.until(({ data }) => data?.includes('question.asked') ?? false);
  reader.close();
  const { items } = (await api.get<Page<{ id: string }>>('/v1/questions', ann)).body;
  const answers = `/v1/questions/${items[0]?.id}/answers`;

  expectProblem(await api.post(answers, { answer: 'red' }, bob), 404, 'not_found');
  const forged = { ...bob, 'Holdfast-Owner': 'user-ann', Authorization: 'Bearer x' };
  expectProblem(await api.post(answers, { answer: 'red' }, forged), 404, 'not_found');
  expect((await api.get<Page<object>>('/v1/tasks', bob)).body.items).toEqual([]);
  expect((await api.get('/v1/tasks')).status).toBe(401);
  const { body } = await api.post<{ resolvedBy: string }>(answers, { answer: 'blue' }, ann);
  expect(body).toMatchObject({ status: 'answered', resolvedBy: 'user-ann' });
});
