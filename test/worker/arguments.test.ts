import { afterEach, describe, expect, test } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MainSide, QUESTION } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

/** What a JavaScript author may pass where the types would not let one. */
const wrong = (text: string) => JSON.parse(text);

const tool = ({ id = 'c', input = '' }) => ({ toolCallId: id, name: 't', input });

/** An array in an array, so many times. */
function deep(levels: number): Json {
  let value: Json = 0;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const REFUSED: [string, (task: TaskHandle) => Promise<unknown>][] = [
  ['a name with #', (task) => task.step('a#2', () => 1)],
  ['a name with >', (task) => task.ask('a>', QUESTION)],
  ['a name with NUL', (task) => task.ask('a\0', QUESTION)],
  ['a name with half a surrogate pair', (task) => task.sleep('a\ud83d', 1)],
  ['an empty name', (task) => task.sleep('', 1)],
  ['a name of 65 characters', (task) => task.say('x'.repeat(65), 'a')],
  ['a name that is no string', (task) => task.sleep(wrong('1'), 1)],
  ['a step without a function', (task) => task.step('x', wrong('1'))],
  ['a step without time', (task) => task.step('x', () => 1, { timeoutMs: 0 })],
  ['a step without attempts', (task) => task.step('x', () => 1, { retry: { attempts: 0 } })],
  ['a step that runs once perhaps', (task) => task.step('x', () => 1, { once: wrong('1') })],
  ['a step with an option that there is not', (task) => task.step('x', () => 1, wrong('{"timeout":1}'))],
  ['a child without an agent', (task) => task.spawn('x', wrong('null'))],
  ['a child of an agent with a bad name', (task) => task.spawn('x', 'A b')],
  ['a child with an input that is not JSON', (task) => task.spawn('x', 'agent', Number.NaN)],
  ["a child's input over 256 KiB", (task) => task.spawn('x', 'agent', 'x'.repeat(256 * 1024))],
  ['a step that runs once and is retried', (task) => task.step('x', () => 1, { once: true, retry: {} })],
  ['a tool without an id', (task) => task.step('x', () => 1, { tool: wrong('{"name":"t"}') })],
  ['a tool with an id of 256 characters', (task) => task.step('x', () => 1, { tool: tool({ id: 'x'.repeat(256) }) })],
  ["a tool's input over 64 KiB", (task) => task.step('x', () => 1, { tool: tool({ input: 'x'.repeat(64 * 1024) }) })],
  ['a message that is a number', (task) => task.say('x', wrong('1'))],
  ['a sleep of less than nothing', (task) => task.sleep('x', -1)],
  ['a sleep of more than a year', (task) => task.sleep('x', 366 * 24 * 3600_000)],
  ['a sleep that is no number', (task) => task.sleep('x', Number.NaN)],
  ['a question without items', (task) => task.ask('x', { items: [] })],
  ['a question without anything', (task) => task.ask('x', wrong('{}'))],
  ['a question that is open too long', (task) => task.ask('x', { ...QUESTION, timeoutMs: Number.POSITIVE_INFINITY })],
  ['a question with an option that there is not', (task) => task.ask('x', { ...QUESTION, ...wrong('{"timeout":1}') })],
  ['a question with a false signal', (task) => task.ask('x', { ...QUESTION, signal: wrong('{}') })],
  ['metadata that is a list', (task) => task.ask('x', { ...QUESTION, metadata: wrong('[]') })],
  ['metadata over 16 KiB', (task) => task.ask('x', { ...QUESTION, metadata: { a: 'x'.repeat(16 * 1024) } })],
  ['an event without a dot', (task) => task.emit('found')],
  ["an event of the server's", (task) => task.emit('task.completed')],
  ['an event that is no string', (task) => task.emit(wrong('1'))],
  ['an event over 64 KiB', (task) => task.emit('my.event', 'x'.repeat(64 * 1024))],
  ['an event that is not JSON', (task) => task.emit('my.event', Number.NaN)],
  ['an event that nests 33 deep', (task) => task.emit('my.event', deep(33))],
  ['metadata that nests 33 deep', (task) => task.ask('x', { ...QUESTION, metadata: { a: deep(32) } })],
  [
    "a tool's input that nests 5,000 deep",
    (task) => task.step('x', () => 1, { tool: { ...tool({}), input: deep(5000) } }),
  ],
  ['progress over 1', (task) => task.progress(1.1)],
  ['progress that is no number', (task) => task.progress(wrong('"half"'))],
  ['a note that is too long', (task) => task.progress(1, 'x'.repeat(64 * 1024))],
];

describe('the handle', () => {
  test.each(REFUSED)('refuses %s, takes no key for it and no number', async (_, call) => {
    let error: unknown;
    await run(async (task) => {
      await call(task).catch((caught: unknown) => (error = caught));
      await task.step('x', () => 1);
    });

    expect(await main.next('startStep')).toMatchObject({ n: 1, step: { name: 'x' } });
    expect(error).toBeInstanceOf(TypeError);
  });

  test.each(REFUSED)('lives on when nobody listens to its refusing %s', async (_, call) => {
    await run(async (task) => {
      void call(task);
    });

    expect(await main.next('end')).toMatchObject({ ending: { status: 'completed' } });
  });

  test('takes a question with every default filled in', async () => {
    await run((task) => task.ask('q', { items: [{ id: 'a', prompt: 'Well?', options: ['yes', { label: 'no' }] }] }));

    expect(await main.next('ask')).toMatchObject({
      key: 'q',
      metadata: {},
      timeoutMs: 15 * 60_000,
      items: [
        {
          id: 'a',
          type: 'choice',
          required: true,
          options: [
            { value: 'yes', label: 'yes' },
            { value: 'no', label: 'no' },
          ],
        },
      ],
    });
  });

  test('takes a name with whole surrogate pairs', async () => {
    await run((task) => task.step('🚀', () => 1));

    expect(await main.next('startStep')).toMatchObject({ step: { name: '🚀' } });
  });

  test('says why a step that runs once cannot be retried', async () => {
    await run((task) => task.step('x', () => 1, { once: true, retry: { attempts: 2 } }));

    const message = 'A step with `once` runs at most once, so that it takes no `retry`.';
    expect(await main.next('end')).toMatchObject({ ending: { error: { message } } });
  });

  test('lets a question stay open for ever', async () => {
    await run((task) => task.ask('q', { ...QUESTION, timeoutMs: null }));

    expect(await main.next('ask')).toMatchObject({ timeoutMs: null });
  });

  test('draws the same values for the same seed, another at each call', async () => {
    const draws: unknown[][] = [];
    const agent = defineAgent({
      name: 'agent',
      run: (task) => {
        draws.push([task.random('a'), task.random('a'), task.random('b'), task.uuid('a'), task.uuid('a')]);
      },
    });
    main = new MainSide([agent]);
    await main.next('ready');
    for (const [taskId, seed] of [
      ['task_1', 'one'],
      ['task_2', 'one'],
      ['task_3', 'two'],
    ] as const) {
      main.start('agent', { taskId, seed });
      await main.next('end');
    }

    expect(draws[0]).toEqual(draws[1]);
    expect(new Set([...(draws[0] ?? []), ...(draws[2] ?? [])]).size).toBe(10);
  });

  test.each([
    [
      'step',
      (task: TaskHandle) => task.step('x', () => 1, wrong('{"timeout":1}')),
      'A step takes retry, once, timeoutMs, tool; not "timeout".',
    ],
    [
      'retry',
      (task: TaskHandle) => task.step('x', () => 1, { retry: wrong('{"times":1}') }),
      'retry takes attempts, baseMs, maxMs; not "times".',
    ],
    [
      'ask',
      (task: TaskHandle) => task.ask('x', { ...QUESTION, ...wrong('{"timeout":1}') }),
      'A question takes items, metadata, timeoutMs, signal; not "timeout".',
    ],
  ])('names the option of %s that there is not', async (_, call, message) => {
    await run(call);

    expect(await main.next('end')).toMatchObject({ ending: { error: { message } } });
  });
});
