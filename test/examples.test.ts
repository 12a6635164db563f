import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cleanUp, root, start, temporaryDirectory } from './cli/running-server.ts';
import { createApi } from './support/api.ts';

const LIMIT_MS = 120_000;
const tsx = import.meta.resolve('tsx');

// Modules that import `holdfast` by its name get what is built.
beforeAll(async () => {
  const setUp = start(process.execPath, ['scripts/set-up.mjs']);
  expect(await setUp.exited, setUp.stderr).toBe(0);
}, LIMIT_MS);

afterEach(cleanUp);

/** A server whose model is the demonstration's, and a directory of its own that it works in. */
async function serve(...flags: string[]): Promise<{ url: string; cwd: string }> {
  const cwd = temporaryDirectory();
  const env = { ...process.env, HOLDFAST_MODEL_URL: '', HOLDFAST_MCP_CONFIG: '' };
  const args = [
    '--import',
    tsx,
    path.join(root, 'src/cli/main.ts'),
    'serve',
    '--port',
    '0',
    '--workers',
    '2',
    ...flags,
  ];
  const server = start(process.execPath, args, { cwd, env });
  const [, url = ''] = await server.printed(/ serves (http:\S+)/);
  return { url, cwd };
}

function example(name: string): string {
  return path.join(root, 'examples', name);
}

describe('the research agent', () => {
  async function research() {
    const { url, cwd } = await serve('--agents', example('research-agent.ts'));
    const api = createApi(url);
    const task = await api.run('researcher', { message: 'How do tides work?' });
    return { api, cwd, task, question: await api.pendingQuestion(task.id) };
  }

  test(
    'shows the report that it would save, and saves it once somebody agrees',
    async () => {
      const { api, cwd, task, question } = await research();
      expect(question.items).toMatchObject([
        { type: 'boolean', prompt: expect.stringContaining('On tides: The moon') },
      ]);

      await api.answer(question.id, true);

      const { status, output } = await api.ended(task.id);
      expect({ status, output }).toMatchObject({ status: 'completed', output: { finishReason: 'stop' } });
      const [, file = ''] = /Saved as (\S+\.md)\./.exec(JSON.stringify(output)) ?? [];
      expect(readFileSync(path.join(cwd, file), 'utf8')).toMatch(/^On tides: The moon/);
    },
    LIMIT_MS,
  );

  test(
    'saves nothing when somebody says no',
    async () => {
      const { api, cwd, task, question } = await research();

      await api.answer(question.id, false);

      const { status, output } = await api.ended(task.id);
      expect(status).toBe('completed');
      expect(JSON.stringify(output)).toContain('The user did not allow this call. The call was not made.');
      expect(existsSync(path.join(cwd, 'reports'))).toBe(false);
    },
    LIMIT_MS,
  );
});

describe('the batch script', () => {
  test(
    'starts a hundred tasks and collects what they come to',
    async () => {
      const { url } = await serve();

      const batch = start(process.execPath, ['--import', tsx, example('batch.ts'), url]);

      expect(await batch.exited, batch.stderr).toBe(0);
      expect(batch.stdout).toContain('Started 100 tasks.');
      expect(batch.stdout).toContain('for 100? Here is a weekend in Ghent');
      expect(batch.stdout.trimEnd()).toMatch(/\n100 of 100 completed\.$/);
    },
    LIMIT_MS,
  );
});

describe('the support chat', () => {
  test(
    'asks back in the middle, and remembers in the next turn',
    async () => {
      const { url } = await serve();
      const lines = ['Plan a weekend in Porto', '2', 'Which hotel?'].map((line) => `'${line}'`).join(' ');

      const chat = start('bash', [
        '-c',
        `printf '%s\\n' ${lines} | '${process.execPath}' --import '${tsx}' '${example('support-chat.ts')}' ${url}`,
      ]);

      expect(await chat.exited, chat.stderr).toBe(0);
      expect(chat.stdout).toMatch(/When would you like to go to Porto\?\n {2}1\. May .*\n {2}2\. June/);
      expect(chat.stdout).toContain('answer> Here is your weekend in Porto. In June you leave');
      expect(chat.stdout).toMatch(/you> Before, you wrote “Plan a weekend in Porto”.*you told me “June”/);
    },
    LIMIT_MS,
  );
});
