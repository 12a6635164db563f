import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { cleanUp, root, temporaryDirectory } from '../cli/running-server.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { openFlakyProxy } from '../support/flaky-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const SCRIPT = path.join(root, 'examples/terminal/run-task.sh');
/** All that it may call beside the shell's own commands. */
const COMMANDS = ['sh', 'curl', 'sed', 'grep', 'od', 'tr', 'cat', 'mktemp', 'rm', 'sleep', 'tail'];
/** Two servers are started, one after the other. */
const RESTART_MS = 120_000;
const WAITS = { timeout: 30_000 };
const AGENTS = ['test/examples/form-agents.ts'];
const CITY = ['trip-planner', '{"city": "Lisbon"}'];

interface Terminal {
  readonly shown: string;
  type(...lines: string[]): void;
  interrupt(): void;
  /** Nobody types any more. */
  leave(): void;
  /** Settles once what is shown matches. */
  until(pattern: RegExp): Promise<void>;
  readonly exited: Promise<number | null>;
}

/** Runs the script as a person does who types into it. */
function runTask(url: string, args: readonly string[], env: Record<string, string> = {}): Terminal {
  const child = spawn('sh', [SCRIPT, ...args], { detached: true, env: { ...process.env, HOLDFAST_URL: url, ...env } });
  /** Of the script and all that it has started, as a terminal signals it. */
  const signal = (name: NodeJS.Signals) => child.exitCode ?? process.kill(-(child.pid ?? 0), name);
  onTestFinished(() => void signal('SIGKILL'));
  let shown = '';
  const exited: Promise<number | null> = once(child, 'close').then(([code]) => code);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      shown += text;
    });
  }
  return {
    get shown() {
      return shown;
    },
    type: (...lines) => void child.stdin.write(lines.map((line) => `${line}\n`).join('')),
    interrupt: () => void signal('SIGINT'),
    leave: () => void child.stdin.end(),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(shown) && resolve();
        child.stdout.on('data', look);
        exited.then((code) => reject(new Error(`It ended with ${code} before it showed ${pattern}:\n${shown}`)));
        look();
      }),
    exited,
  };
}

/** A PATH with nothing in it but these commands. */
function pathWith(commands: readonly string[]): string {
  const directory = path.join(temporaryDirectory(), 'bin');
  mkdirSync(directory);
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  for (const command of commands) {
    const file = folders.map((folder) => path.join(folder, command)).find((each) => existsSync(each));
    symlinkSync(file ?? command, path.join(directory, command));
  }
  return directory;
}

function taskIn({ shown }: Terminal): string {
  return /^task +(task_\w+)$/m.exec(shown)?.[1] ?? '';
}

describe('The terminal script', () => {
  let server: ServerProcess;
  let api: Api;
  beforeAll(async () => {
    server = await startServerProcess({ agents: AGENTS });
    api = createApi(server.url);
  });
  afterAll(() => server.stop());
  afterEach(cleanUp);

  // Would fail if it began anew after a cut, or behind what it has not shown, or counted a block that was cut as told.
  test.each(['jq, where it is there', 'grep and sed alone'])(
    'runs a task through cut connections, by %s',
    async (by) => {
      const env = by === 'grep and sed alone' ? { PATH: pathWith(COMMANDS) } : {};
      const proxy = await openCuttingProxy(server.url, [Number.POSITIVE_INFINITY, 1500, 2500]);
      onTestFinished(() => proxy.close());

      const terminal = runTask(proxy.url, CITY, env);
      terminal.type('9', '2', ' A "quiet" room \\ with a view\t🚪 ');
      const code = await terminal.exited;

      expect(code, terminal.shown).toBe(0);
      expect(proxy.cuts).toBe(2);
      const { shown } = terminal;
      const words = shown.match(/^\w+/gm) ?? [];
      expect(words.filter((word) => word === 'lost')).toHaveLength(2);
      expect(words.filter((word) => word !== 'lost')).toEqual(
        [
          'task',
          'progress',
          'assistant',
          'progress',
          'event',
          'progress',
          'asks',
          'answer',
          'answer',
          'answered',
        ].concat(['progress', 'asks', 'answer', 'answered', 'progress', 'assistant', 'progress', 'completed']),
      );
      expect(shown).toContain('\n            2. June  Friday at 19:40, from €124\n');
      const events = await api.eventsOf(taskIn(terminal));
      const answered = events.filter(({ type }) => type === 'question.answered').map(({ data }) => data.answers);
      expect(answered).toEqual([{ month: 'june' }, { wish: ' A "quiet" room \\ with a view\t🚪 ' }]);
      expect(shown).toContain('Sunday belongs to what you asked for:  A "quiet" room \\ with a view 🚪 . Have');
    },
  );

  describe.each(['jq, where it is there', 'grep and sed alone'])('with %s', (by) => {
    const run = (url: string, args: string[]) =>
      runTask(url, args, by === 'grep and sed alone' ? { PATH: pathWith(COMMANDS) } : {});

    test('asks for every kind of item, and again for what does not fit', async () => {
      const terminal = run(server.url, ['clerk', '{"message": ""}']);
      terminal.type('Porto', '4', '2', '1, 3', 'near the wing', 'many', '0', 'perhaps', 'no', '', '', 'A');
      await terminal.until(/^refused/m);
      terminal.type('2', '2', '1', '2.5', 'y', 'none "yet"', 'Ada');

      expect(await terminal.exited, terminal.shown).toBe(0);
      const { output } = await api.task(taskIn(terminal));
      expect(output).toMatchObject({
        answers: {
          city: 'opo "1"',
          extras: ['bicycle'],
          seat: 'aisle',
          nights: 2.5,
          insured: true,
          notes: 'none "yet"',
          name: 'Ada',
        },
      });
      expect(terminal.shown).toContain(
        'asks       Which "city"?\n            1. Lisbon  \n            2. Porto  by the river',
      );
      expect(terminal.shown).toContain('asks       Your [31mname?\n           In full.\n');
      expect(terminal.shown.match(/^refused.*\n.*/m)?.[0]).toContain('/answers/nights');
    });

    test('ends with 1 when the task fails, and lets no text steer the terminal', async () => {
      const terminal = run(server.url, ['faulty']);

      expect(await terminal.exited).toBe(1);
      expect(terminal.shown).toContain('failed     agent_error It [2Jbroke \\ down.\n');
      expect(terminal.shown).not.toContain('\u001b');
    });
  });

  test('ends with 1 when the task is cancelled', async () => {
    const terminal = runTask(server.url, ['sleeper']);
    await terminal.until(/sleeping/);

    await api.cancel(taskIn(terminal));

    expect(await terminal.exited).toBe(1);
    expect(terminal.shown).toMatch(/^cancelled *$/m);
  });

  test('ends with 2, and says why, when the server refuses the task', async () => {
    const terminal = runTask(server.url, ['nobody']);

    expect(await terminal.exited).toBe(2);
    expect(terminal.shown).toContain('refused    There is no agent "nobody"');
  });

  // Would fail without the key, which makes the second sending the same as the first, and without the sending again.
  test('sends what had no reply until it knows, and starts one task and gives one answer', async () => {
    const proxy = await openFlakyProxy(server.url, new Map());
    onTestFinished(() => proxy.close());
    const sent = (to: string) => proxy.requests.filter((each) => each.startsWith('POST') && each.endsWith(to)).length;
    const tasks = async () => (await api.get<Page<Task>>('/v1/tasks?agent=clerk')).body.items.length;
    const before = await tasks();

    proxy.mode = 'lose-answers';
    const terminal = runTask(proxy.url, ['clerk', '{"message": ""}']);
    await expect.poll(() => sent('/v1/tasks'), WAITS).toBeGreaterThan(1);
    proxy.mode = 'pass';
    terminal.type('1', '1', '1', '1', 'y', '');
    await terminal.until(/In full[^>]*> $/);
    proxy.mode = 'lose-answers';
    terminal.type('Ada');
    await expect.poll(() => sent('/answers'), WAITS).toBeGreaterThan(1);
    proxy.mode = 'pass';

    expect(await terminal.exited, terminal.shown).toBe(0);
    expect(terminal.shown).not.toContain('refused');
    expect(await tasks()).toBe(before + 1);
    const events = await api.eventsOf(taskIn(terminal));
    expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
  });

  test(
    'goes on, and takes answers, when the server was killed and comes back',
    async () => {
      const own = await startServerProcess();
      const terminal = runTask(own.url, CITY);
      await terminal.until(/answer .*> $/);

      await own.kill();
      terminal.type('1');
      await terminal.until(/^trying/m);
      const { port } = new URL(own.url);
      const again = await startServerProcess({ dataDir: own.dataDir, port: Number(port) });
      onTestFinished(async () => void (await again.stop()));
      terminal.type('No haste');

      expect(await terminal.exited, terminal.shown).toBe(0);
      expect(terminal.shown.match(/^progress.*/gm)).toEqual([
        expect.stringContaining('getting started'),
        expect.stringContaining('comparing flights'),
        expect.stringContaining('asking when'),
        expect.stringContaining('asking what for'),
        expect.stringContaining('writing the plan'),
        expect.stringContaining('done'),
      ]);
    },
    RESTART_MS,
  );

  test('follows on when nobody is there to answer, and says what came of it', async () => {
    const terminal = runTask(server.url, CITY);
    terminal.leave();
    await terminal.until(/^unanswered/m);

    const question = await api.pendingQuestion(taskIn(terminal));
    await api.post(`/v1/questions/${question.id}/decline`, { reason: 'too late' });

    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toMatch(/^declined +the question.*too late/m);
  });

  test('is left by Ctrl-C, and takes up the same task again', async () => {
    const left = runTask(server.url, CITY);
    await left.until(/answer .*> $/);
    left.interrupt();
    const task = taskIn(left);
    expect(await left.exited).toBe(130);
    expect(left.shown).toContain(`--follow ${task}`);

    const terminal = runTask(server.url, ['--follow', task]);
    terminal.type('1', 'No haste');

    expect(await terminal.exited, terminal.shown).toBe(0);
    expect(await api.task(task)).toMatchObject({ output: { planned: true, month: 'may' } });
  });
});
