import { expect, test } from 'vitest';
import { createApi, TASK_AGENTS } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken } from '../support/token.ts';

// There is no call for it among those of a task's handle; what is left is to ask the server as others do.
test('an agent has nothing to answer a question with', async () => {
  const dataDir = newDirectory();
  const server = await startServerProcess({
    dataDir,
    agents: [...TASK_AGENTS, 'test/access/meddling-agents.ts'],
    flags: ['--auth', 'token'],
  });
  const { token } = await makeToken(dataDir, 'ann', ['tasks:read', 'tasks:write', 'questions:answer']);
  const api = createApi(server.url, token);
  const asked = await api.run('asker', { items: [{ id: 'word', prompt: 'Which?' }] });
  const { id } = await api.pendingQuestion(asked.id);

  const { status, output } = await api.run('meddler', { url: server.url, questionId: id });

  expect(status).toBe('completed');
  expect(output).toMatchObject({ statuses: [401, 401, 401] });
  expect(JSON.stringify(output)).not.toContain(token);
  expect((await api.question(id)).status).toBe('pending');
  expect((await api.answer(id, 'Of a person.')).body).toMatchObject({ status: 'answered', resolvedBy: 'ann' });
  expect(await server.stop()).toBe(0);
});
