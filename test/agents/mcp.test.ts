import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { McpTools, mcpTools } from '../../src/agents/mcp.ts';
import type { McpConfig } from '../../src/agents/mcp-config.ts';
import type { Tool } from '../../src/agents/tool.ts';
import type { Json } from '../../src/model/json.ts';
import { EVERYTHING, kill, type Lives, watchLives } from './mcp-lives.ts';

/** Longer than any test. */
const HOUR_S = 3600;

async function watch(): Promise<Lives> {
  const lives = await watchLives();
  onTestFinished(() => lives.close());
  return lives;
}

function open(config: McpConfig): McpTools {
  const tools = new McpTools(config);
  onTestFinished(() => tools.close());
  return tools;
}

function named(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`There is no ${name} among ${tools.map((each) => each.name).join(', ')}.`);
  return tool;
}

/** Finds a tool in the list of now, as an assistant does, and calls it. */
async function call(
  tools: McpTools,
  name: string,
  input: Json,
  signal = new AbortController().signal,
): Promise<unknown> {
  const tool = named(await tools.list(), name);
  const parsed = await tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  const context = { toolCallId: 'call_1', idempotencyKey: 'key', attempt: 1, signal };
  return tool.run(parsed.input, { ...context, emit: async () => {}, progress: async () => {} });
}

function configFile(config: McpConfig): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: config }));
  return file;
}

describe('a server of MCP', () => {
  test('lends its tools under its own name, described as they are', async () => {
    const { config } = await watch();

    const list = await open({ every: config }).list();

    expect(named(list, 'every__get-sum')).toMatchObject({
      kind: 'tool',
      description: expect.stringMatching(/sum/i),
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    });
    expect(list.every(({ name }) => name.startsWith('every__'))).toBe(true);
    // By what the server says of them: the one only reads, the other changes something.
    expect(named(list, 'every__echo').once).toBe(false);
    expect(named(list, 'every__toggle-simulated-logging').once).toBe(true);
  });

  test('does what it is called for', async () => {
    const { config } = await watch();
    const tools = open({ every: config });

    expect(await call(tools, 'every__get-sum', { a: 2, b: 3 })).toContain('5');
    expect(await call(tools, 'every__get-tiny-image', {})).toContain('(a picture, image/png, which is not shown here)');
  });

  test('says what is wrong with a call', async () => {
    const { config } = await watch();
    const tools = open({ every: config });

    await expect(call(tools, 'every__get-sum', { a: 'two' })).rejects.toThrow(/number/);
    await expect(call(tools, 'every__get-sum', [2, 3])).rejects.toThrow('It must be an object.');
    expect(await call(tools, 'every__echo', { message: 'still there' })).toContain('still there');
  });

  test('lists its tools on several pages, and stays when it refuses a call', async () => {
    const server = path.join(import.meta.dirname, 'mcp-refusing-server.mjs');
    const tools = open({ no: { command: process.execPath, args: [server], env: {} } });

    expect((await tools.list()).map(({ name, description }) => [name, description])).toEqual([
      ['no__one', 'The tool "one" of the MCP server "no".'],
      ['no__two', 'The tool "two" of the MCP server "no".'],
    ]);
    await expect(call(tools, 'no__one', {})).rejects.toThrow(/^refused for the 1\. time$/);
    await expect(call(tools, 'no__two', {})).rejects.toThrow(/^refused for the 2\. time$/);
  });

  test('is started once for all who use it at the same time', async () => {
    const lives = await watch();
    const tools = open({ every: lives.config });

    const echoes = await Promise.all([1, 2, 3, 4].map((n) => call(tools, 'every__echo', { message: `echo ${n}` })));

    expect(echoes).toEqual([1, 2, 3, 4].map((n) => expect.stringContaining(`echo ${n}`)));
    expect(lives.count).toBe(1);
  });

  test('is started again after it has died', async () => {
    const lives = await watch();
    const tools = open({ every: lives.config });
    const before = await tools.list();
    await kill(await lives.life(1));

    await expect.poll(() => startsAfter(tools.list()), { timeout: 10_000 }).toBe(2);

    expect(await call(tools, 'every__echo', { message: 'again' })).toContain('again');
    expect((await tools.list()).map(({ name }) => name)).toEqual(before.map(({ name }) => name));

    async function startsAfter(listed: Promise<unknown>): Promise<number> {
      await listed;
      return lives.count;
    }
  });

  test('that dies in the middle of a call fails that call, and serves the next', async () => {
    const lives = await watch();
    const tools = open({ every: lives.config });
    const long = call(tools, 'every__trigger-long-running-operation', { duration: HOUR_S, steps: 1 });
    await call(tools, 'every__echo', { message: 'the long one is on its way' });

    const failure = expect(long).rejects.toThrow(/"every" was lost in the middle of the call.*Nobody knows how far/);
    await kill(await lives.life(1));

    await failure;
    expect(await call(tools, 'every__get-sum', { a: 2, b: 3 })).toContain('5');
    expect(lives.count).toBe(2);
  });

  test('is left running by a call that is aborted', async () => {
    const lives = await watch();
    const tools = open({ every: lives.config });
    await tools.list();
    const controller = new AbortController();
    const input = { duration: HOUR_S, steps: 1 };
    const long = call(tools, 'every__trigger-long-running-operation', input, controller.signal);

    controller.abort(new Error('cancelled'));

    await expect(long).rejects.toThrow(/^cancelled$/);
    expect(await call(tools, 'every__echo', { message: 'still there' })).toContain('still there');
    expect(lives.count).toBe(1);
  });

  test('that does not start costs only its own tools, and the model and the log are told', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => log.mockRestore());
    const { config } = await watch();
    const broken = { command: path.join(tmpdir(), 'no-such-program'), args: [], env: {} };
    const tools = open({ broken, mute: { ...broken, command: 'true' }, every: config });

    const list = await tools.list();

    expect(named(list, 'broken__unavailable').description).toMatch(/"broken" cannot be used.*ENOENT/);
    expect(named(list, 'mute__unavailable').description).toMatch(/"mute" cannot be used/);
    expect(await call(tools, 'broken__unavailable', {})).toMatch(/its tools are missing/);
    expect(await call(tools, 'every__echo', { message: 'hello' })).toContain('hello');
    expect(log.mock.calls.flat().sort()).toEqual([
      expect.stringMatching(/^The MCP server "broken" could not be used.*ENOENT/),
      expect.stringMatching(/^The MCP server "mute" could not be used/),
    ]);
  });

  test('keeps nobody who gives up while it starts', async () => {
    const { config } = await watch();
    const tools = open({ every: config });

    await expect(tools.list(AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');

    expect(await call(tools, 'every__echo', { message: 'hello' })).toContain('hello');
  });

  test('over HTTP works the same, and after it was started again', async () => {
    const port = await freePort();
    const tools = open({ remote: { url: `http://127.0.0.1:${port}/mcp`, headers: {} } });
    const first = await startHttp(port);
    expect(await call(tools, 'remote__get-sum', { a: 2, b: 3 })).toContain('5');

    await first.kill();
    await startHttp(port);

    await expect(call(tools, 'remote__echo', { message: 'lost' })).rejects.toThrow(/"remote" was lost/);
    expect(await call(tools, 'remote__echo', { message: 'hello' })).toContain('hello');
  });
});

describe('the tools of a thread', () => {
  test('are those of the servers in the file that the environment names', async () => {
    vi.stubEnv('HOLDFAST_MCP_CONFIG', path.join(tmpdir(), 'no-such-file.json'));
    await expect(mcpTools()).rejects.toThrow(/no-such-file\.json cannot be used/);

    vi.stubEnv('HOLDFAST_MCP_CONFIG', '');
    expect(await mcpTools()).toEqual([]);
  });

  test.each<[string, (thread: Worker) => unknown]>([
    ['is terminated', (thread) => thread.terminate()],
    ['ends by itself', (thread) => thread.postMessage('end')],
  ])('end with a thread that %s', async (_how, end) => {
    const lives = await watch();
    const thread = startThread(configFile({ every: lives.config }));
    const [count] = await once(thread, 'message');
    const life = await lives.life(1);

    await end(thread);

    await life.ended;
    expect(count).toBeGreaterThan(5);
  });
});

/** Threads do not take `--import tsx` on Node 20: they begin with a line of JavaScript. */
function startThread(file: string): Worker {
  const source = new URL('./mcp-thread.ts', import.meta.url).href;
  const tsx = import.meta.resolve('tsx/esm/api');
  const code = `import { register } from '${tsx}'; register(); await import('${source}');`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    env: { ...process.env, HOLDFAST_MCP_CONFIG: file },
    execArgv: [],
  });
  onTestFinished(async () => void (await thread.terminate()));
  return thread;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startHttp(port: number): Promise<{ kill(): Promise<unknown> }> {
  const env = { ...process.env, PORT: `${port}` };
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const stop = () => {
    child.kill('SIGKILL');
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  for await (const text of child.stderr) if (/listening on port/.test(`${text}`)) break;
  return { kill: stop };
}
