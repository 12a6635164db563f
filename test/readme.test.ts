import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cleanUp, root, start, startServer, temporaryDirectory } from './cli/running-server.ts';

const LIMIT_MS = 60_000;
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

/** The code blocks with this info string, in their order. */
function blocksOf(info: string): string[] {
  return [...readme.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === info)
    .map((match) => match[2] ?? '');
}

/** Lines of the README, typed into a terminal that reaches the server at `url`. */
function type(lines: string[], url: string, cwd: string) {
  return start('bash', ['-c', lines.join('\n').replaceAll('http://127.0.0.1:4747', url)], { cwd });
}

async function eventsOf(url: string, taskId: string): Promise<{ id: string; type: string; data: unknown }[]> {
  const response = await fetch(`${url}/v1/tasks/${taskId}/events?after=0&limit=1000`, {
    headers: { accept: 'application/json' },
  });
  return JSON.parse(await response.text()).events;
}

// Modules that import `holdfast` by its name get what is built.
beforeAll(async () => {
  const setUp = start(process.execPath, ['scripts/set-up.mjs']);
  expect(await setUp.exited, setUp.stderr).toBe(0);
}, LIMIT_MS);

afterEach(cleanUp);

describe('the commands of the README', () => {
  test(
    'hold a conversation, interrupt it, and read what was said',
    async () => {
      const { url } = await startServer();

      const terminal = type(blocksOf('sh conversation'), url, temporaryDirectory());
      await terminal.exited;

      expect(terminal.stdout).toContain('"type":"question.asked"');
      expect(terminal.stdout).toContain('"reason":"interrupted"');
      expect(terminal.stdout).toContain('When would you like to go to Rome?');
      const { items } = JSON.parse(
        terminal.stdout
          .trimEnd()
          .split('\n')
          .at(-1)
          ?.replace(/^.*(?=\{"items")/, '') ?? '',
      );
      const users = items.filter(({ role }: { role: string }) => role === 'user');
      expect(users.map(({ content }: { content: string }) => content)).toEqual([
        'Plan me a weekend in Porto',
        'Make that Rome, please',
      ]);
    },
    LIMIT_MS,
  );

  test(
    'lose a connection, resume, answer from another terminal and see the task finish',
    async () => {
      const { url } = await startServer();
      const cwd = temporaryDirectory();
      const [list = '', answerChoice = '', answerText = ''] = blocksOf('sh other-terminal');

      const first = type(blocksOf('sh first-terminal'), url, cwd);
      await first.printed(/"type":"question.asked"/);
      const choice = type([list, answerChoice], url, cwd);
      await choice.exited;
      await first.printed(/"type":"question.asked"[\s\S]*"type":"question.answered"[\s\S]*"type":"question.asked"/);
      const text = type([answerText], url, cwd);
      await text.exited;
      await first.exited;

      expect(choice.stdout).toContain('"status":"pending"');
      expect(choice.stdout).toContain('"status":"answered"');
      expect(text.stdout).toContain('"status":"answered"');
      const seen = readFileSync(path.join(cwd, 'seen.txt'), 'utf8');
      expect(seen).toContain('"type":"task.created"');
      expect(seen).not.toContain('"type":"task.completed"');
      expect(first.stdout).toContain('event: end');
      expect(first.stdout.trimEnd().split('\n').at(-1)).toContain('"status":"completed"');
      const [taskId = ''] = first.stdout.split('\n');
      const log = await eventsOf(url, taskId);
      const received = [...first.stdout.matchAll(/^data: \{"seq".*\nid: (\S+)$/gm)].map(([, id]) => id);
      expect(received).toEqual(log.map(({ id }) => id));
    },
    LIMIT_MS,
  );
});

describe('the agent in the README', () => {
  // It imports the package by its name, which is what was built.
  test('is the one in examples, and has at most twenty lines', () => {
    const [agent = ''] = blocksOf('ts agent');

    expect(agent).toBe(readFileSync(path.join(root, 'examples/party-planner.ts'), 'utf8'));
    expect(agent.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  });

  test(
    'books the party once somebody agrees',
    async () => {
      mkdirSync(path.join(root, '.cache'), { recursive: true });
      const directory = mkdtempSync(path.join(root, '.cache/readme-'));
      const file = path.join(directory, 'party-planner.ts');
      writeFileSync(file, blocksOf('ts agent').join(''));
      const { url } = await startServer('--agents', file);

      const created = type(blocksOf('sh agent'), url, directory);
      await created.exited;
      const task = JSON.parse(created.stdout);
      expect(task).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
      const answered = type(blocksOf('sh agent-answer'), url, directory);
      await answered.exited;
      expect(answered.stdout).toContain('"status":"answered"');
      const finished = await fetch(`${url}/v1/tasks/${task.id}?wait=30`);

      rmSync(directory, { recursive: true });
      expect(JSON.parse(await finished.text())).toMatchObject({
        status: 'completed',
        output: { booked: true, price: 24 },
      });
      const events = await eventsOf(url, task.id);
      expect(events.find(({ type: name }) => name === 'party.booked')).toMatchObject({ data: { price: 24 } });
    },
    LIMIT_MS,
  );
});

test(
  "the README's program serves from what is built, says where, and ends",
  async () => {
    mkdirSync(path.join(root, '.cache'), { recursive: true });
    const directory = mkdtempSync(path.join(root, '.cache/readme-'));
    // A free port, since others test here at the same time.
    writeFileSync(path.join(directory, 'program.mjs'), blocksOf('ts program').join('').replace('8080', '0'));
    const agent = "import { defineAgent } from 'holdfast';\nexport default defineAgent({ name: 'a', run: () => 1 });\n";
    writeFileSync(path.join(directory, 'agents.js'), agent);

    const program = start(process.execPath, ['program.mjs'], { cwd: directory });
    const ended = await program.exited;

    rmSync(directory, { recursive: true });
    expect(ended, program.stderr).toBe(0);
    expect(program.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
  },
  LIMIT_MS,
);
