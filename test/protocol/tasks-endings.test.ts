import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** The error of a task that has failed, after checking that its log and what is read of it say the same. */
async function failure(task: Task): Promise<NonNullable<Task['error']>> {
  expect(task.status).toBe('failed');
  expect(task.output).toBeNull();
  expect(await api.task(task.id)).toEqual(task);
  const terminal = (await api.eventsOf(task.id)).filter(({ type }) =>
    /^task\.(completed|failed|cancelled)$/.test(type),
  );
  expect(terminal).toMatchObject([{ type: 'task.failed', data: { error: task.error } }]);
  if (task.error === null) throw new Error('A failed task has an error.');
  return task.error;
}

describe('§4 output', () => {
  test.each([
    ['nothing', null],
    ['a date', '1970-01-01T00:00:00.000Z'],
    ['an object without prototype', { a: 1 }],
  ])('%s becomes %j', async (what, output) => {
    expect(await api.run('outputs', what)).toMatchObject({ status: 'completed', output });
  });

  test.each(['1 MiB', '1 MiB in two-byte letters', '32 levels'])('%s is taken and read again', async (what) => {
    const task = await api.run('outputs', what);

    expect(task).toMatchObject({ status: 'completed', error: null });
    expect((await api.task(task.id)).output).toEqual(task.output);
    expect((await api.eventsOf(task.id)).at(-1)?.data.output).toEqual(task.output);
  });

  test.each([
    'function',
    'symbol',
    'bigint',
    'circular',
    'not a number',
    'infinity',
    'map',
    'a throwing toJSON',
    'a throwing getter',
    '1 MiB and a byte',
    'two-byte letters and a byte more',
    '33 levels',
  ])('%s fails with invalid_output', async (what) => {
    const error = await failure(await api.run('outputs', what));

    expect(error.code).toBe('invalid_output');
    expect(error.message).toMatch(/\w/);
  });
});

describe('§4 error', () => {
  test('what the agent threw is told by code and message, and nothing else', async () => {
    expect(await failure(await api.run('thrower', 'error'))).toEqual({
      code: 'agent_error',
      message: 'no such flight',
    });
  });

  test.each([
    ['an error without a message', 'RangeError'],
    ['an error with odd fields', 'odd'],
    ['undefined', 'undefined'],
    ['null', 'null'],
    ['a string', 'plain words'],
    ['a number', '0'],
    ['a bigint', '12n'],
    ['a symbol', 'Symbol(thrown)'],
    ['frozen', 'frozen'],
    ['a throwing getter', expect.stringMatching(/\w/)],
    ['a revoked proxy', expect.stringMatching(/\w/)],
    ['a function', expect.stringMatching(/\w/)],
    ['circular', expect.stringMatching(/\w/)],
  ])('%s that was thrown becomes plain JSON, and the task fails', async (what, message) => {
    const error = await failure(await api.run('thrower', what));

    expect(error).toEqual({ code: 'agent_error', message });
    expect(error.message).not.toMatch(/\n\s+at |\/etc\/passwd|\.ts:\d/);
  });

  test('text that no column can hold as it is does not keep a task from its end', async () => {
    for (const what of ['NUL', 'a lone surrogate']) {
      expect((await failure(await api.run('thrower', what))).code).toBe('agent_error');
    }
  });

  test('a message of 1 KiB is whole, and a longer one is cut there and marked', async () => {
    const whole = await failure(await api.run('thrower', '1 KiB'));
    const cut = await failure(await api.run('thrower', 'huge'));

    expect(whole).toEqual({ code: 'agent_error', message: 'x'.repeat(1024) });
    expect(cut).toEqual({ code: 'agent_error', message: 'x'.repeat(1024), truncated: true });
  });

  test('a message is never cut inside a code point', async () => {
    const even = await failure(await api.run('thrower', 'emoji'));
    const odd = await failure(await api.run('thrower', 'emoji, shifted by one'));

    expect(even).toEqual({ code: 'agent_error', message: '😀'.repeat(256), truncated: true });
    expect(odd).toEqual({ code: 'agent_error', message: `x${'😀'.repeat(255)}`, truncated: true });
  });

  test('a failed task leaves its worker whole: the next ones run', async () => {
    const tasks = await Promise.all(Array.from({ length: 10 }, (_, at) => api.run('echo', at)));

    expect(tasks.map(({ output }) => output)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
