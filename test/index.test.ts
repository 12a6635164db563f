import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askUserQuestions, createAssistant, createHoldfast, fetchPage, mcpTools } from '../src/index.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'holdfast-embedded-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const agents = pathToFileURL(path.resolve('examples/party-planner.ts'));

test('a program can have a Holdfast of its own, and close it and start it again', async () => {
  const first = await createHoldfast({ agents, dataDir, port: 0 });
  const created = await fetch(`${first.url}/v1/tasks?wait=30`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'party-planner', input: { guests: ['Ada'] } }),
  });
  const { id, status } = (await created.json()) as { id: string; status: string };
  await first.close();

  const second = await createHoldfast({ agents, dataDir, port: 0 });
  const after = await (await fetch(`${second.url}/v1/tasks/${id}`)).json();
  await second.close();

  expect(status).toBe('waiting');
  expect(after).toMatchObject({ id, status: 'waiting', attempt: 1, error: null });
});

test('a program whose agents do not load is told why, and its data is free for the next', async () => {
  const missing = new URL('./there-is-none.js', import.meta.url);

  await expect(createHoldfast({ agents: missing, dataDir, port: 0 })).rejects.toThrow(/there-is-none/);

  const holdfast = await createHoldfast({ agents, dataDir, port: 0 });
  await holdfast.close();
});

test('an author can give an assistant the tools of the built-in one', () => {
  const tools = [askUserQuestions, fetchPage];

  expect(tools.map(({ name }) => name)).toEqual(['ask_user_questions', 'fetch_page']);
  expect(createAssistant({ name: 'listed', tools })).toMatchObject({ name: 'listed' });
  expect(createAssistant({ name: 'asked', tools: mcpTools })).toMatchObject({ name: 'asked' });
});
