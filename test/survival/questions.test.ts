import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { rounds } from './rounds.ts';

const AGENTS = ['test/survival/survival-agents.ts'];

let server: ServerProcess | null = null;
afterEach(() => server?.stop());

function start(dataDir?: string): Promise<ServerProcess> {
  return startServerProcess({ agents: AGENTS, ...(dataDir !== undefined && { dataDir }) });
}

test('[Q12] a question that is pending at a kill -9 has the same id and deadline after it, is answerable at once, and carries its task to the end', async () => {
  const dir = newDirectory();
  const file = path.join(dir, 'effects');
  server = await start(dir);
  const before = createApi(server.url);
  const { id } = await before.run('asker', { file });
  const asked = await before.pendingQuestion(id);

  await server.kill();
  server = await start(dir);
  const api = createApi(server.url);
  const found = await api.pendingQuestion(id);
  const answered = await api.answer(asked.id, 'yes');
  const ended = await api.ended(id);

  expect(found).toEqual(asked);
  expect(answered.status).toBe(200);
  expect(ended).toMatchObject({
    status: 'completed',
    attempt: 1,
    output: { status: 'answered', answers: { value: 'yes' } },
  });
  expect(readFileSync(file, 'utf8')).toBe('before\nafter\n');
});

test('no answer that got its 200 is lost when the process is killed within 20 ms of it', async () => {
  const dir = newDirectory();
  server = await start(dir);
  const heard: { id: string; value: string }[] = [];
  for (let round = 0; round < rounds(50) / 5; round++) {
    const api = createApi(server.url);
    const tasks = await Promise.all(Array.from({ length: 5 }, () => api.run('asker')));
    const answers = tasks.map(async ({ id }, index) => {
      const question = await api.pendingQuestion(id);
      const value = `${round}-${index}`;
      const { status } = await api.answer(question.id, value);
      expect(status).toBe(200);
      heard.push({ id, value });
    });
    await Promise.all(answers);
    // Anywhere between at once and 20 ms after the last of them.
    await new Promise((resolve) => setTimeout(resolve, (round * 7) % 20));
    await server.kill();
    server = await start(dir);
  }

  const api = createApi(server.url);
  const outputs = await Promise.all(heard.map(async ({ id }) => (await api.ended(id)).output));

  expect(outputs).toEqual(heard.map(({ value }) => expect.objectContaining({ answers: { value } })));
});

test('an answer while the process dies either was refused, or wakes its task', async () => {
  const dir = newDirectory();
  server = await start(dir);
  const tried: { id: string; status: number | null; value: string }[] = [];
  for (let round = 0; round < Math.ceil(rounds(100) / 10); round++) {
    const api = createApi(server.url);
    const tasks = await Promise.all(Array.from({ length: 10 }, () => api.run('asker')));
    const questions = await Promise.all(tasks.map(({ id }) => api.pendingQuestion(id)));
    const answers = questions.map(async (question, index) => {
      const value = `${round}-${index}`;
      const status = await api.answer(question.id, value).then(
        (answer) => answer.status,
        () => null,
      );
      tried.push({ id: question.taskId, status, value });
    });
    await new Promise((resolve) => setTimeout(resolve, (round * 3) % 12));
    await server.kill();
    await Promise.all(answers);
    server = await start(dir);
  }

  const api = createApi(server.url);
  for (const { id, status, value } of tried) {
    const task = await api.settled(id);
    if (status === 200) expect(await api.ended(id)).toMatchObject({ output: { answers: { value } } });
    // The answer was stored and its reply lost, or it never arrived: then the question is open.
    else if (task.status === 'waiting') expect(await api.pendingQuestion(id)).toMatchObject({ status: 'pending' });
    else expect(await api.ended(id)).toMatchObject({ output: { answers: { value } } });
  }
});

test.each([
  ['30 days', 30 * 24 * 60 * 60_000],
  ['2^31 ms', 2 ** 31],
])('a deadline of %s stays as it is over a restart, and nothing about timers is on stderr', async (_, timeoutMs) => {
  const dir = newDirectory();
  server = await start(dir);
  const { id } = await createApi(server.url).run('asker', { timeoutMs });
  const asked = await createApi(server.url).pendingQuestion(id);
  await server.kill();
  server = await start(dir);

  const found = await createApi(server.url).pendingQuestion(id);

  expect(found).toEqual(asked);
  expect(Date.parse(found.expiresAt ?? '') - Date.parse(found.askedAt)).toBe(timeoutMs);
  expect(server.stderr()).not.toMatch(/timer|overflow|warning/i);
});
