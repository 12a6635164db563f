import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi } from '../support/api.ts';
import { type OpenAiStub, openOpenAiStub, type Wire } from '../support/openai-stub.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { LogEvent } from '../support/sse-reader.ts';
import { call, resultsOf, roundsOf, say } from './stub-replies.ts';

/** How long the model may send nothing: long enough for a busy machine, short enough to wait for. */
const IDLE_MS = 3000;

let stub: OpenAiStub;
let server: ServerProcess;
let api: Api;

/** By the user's message, which names the test: each call of the model, with its number among the calls of that test. */
const scripts = new Map<string, { calls: number; answer: (wire: Wire, n: number) => unknown }>();

beforeAll(async () => {
  stub = await openOpenAiStub((wire) => {
    const message = wire.request.messages.find(({ role }) => role === 'user')?.content ?? '';
    const script = scripts.get(message.split(':')[0] ?? '');
    if (script === undefined) throw new Error(`Nobody has written an answer to ${message}.`);
    return script.answer(wire, ++script.calls);
  });
  server = await startServerProcess({
    agents: ['test/agents/assistant-agents.ts'],
    env: {
      HOLDFAST_MODEL_URL: stub.url,
      HOLDFAST_MODEL: 'stub-1',
      HOLDFAST_MODEL_KEY: 'sk-test',
      HOLDFAST_MODEL_IDLE_MS: `${IDLE_MS}`,
    },
  });
  api = createApi(server.url);
});

afterAll(async () => {
  await server?.stop();
  await stub?.close();
});

interface Story {
  task: Task;
  events: LogEvent[];
  /** Each message that was completed: its status and its text, `empty` where it says so. */
  messages: string[];
  calls: number;
}

/** Runs an assistant whose model answers as the test says. */
async function run(name: string, answer: (wire: Wire, n: number) => unknown, agent = 'worker-bee'): Promise<Story> {
  const script = { calls: 0, answer };
  scripts.set(name, script);
  const { id } = await api.createTask({ agent, input: { message: name } });
  const events = await api.eventsOf(id);
  const messages = events.flatMap(({ type, data }) =>
    type === 'message.completed'
      ? [`${data.message.status}${data.message.empty ? ' empty' : ''}: ${data.message.content}`]
      : [],
  );
  return { task: await api.task(id), events, messages, calls: script.calls };
}

function errorOf({ task }: Story): string | undefined {
  return task.error?.message;
}

function think(wire: Wire, thought: string): Promise<void> {
  const chunk = { id: '1', model: 'stub-1', choices: [{ index: 0, delta: { reasoning_content: thought } }] };
  return wire.raw(`data: ${JSON.stringify(chunk)}\n\n`);
}

function retriesOf({ events }: Story): LogEvent[] {
  return events.filter(({ type, data }) => type === 'step.failed' && data.retryInMs !== null);
}

describe.concurrent('a model that', () => {
  test('returns nothing leaves an empty message, and the task completes', async ({ expect }) => {
    const story = await run('nothing', (wire) => wire.finish('stop'));

    expect(story.task).toMatchObject({ status: 'completed', output: { text: '', steps: 1, finishReason: 'stop' } });
    expect(story.messages).toEqual(['complete empty: ']);
  });

  test('only calls tools leaves no message for that', async ({ expect }) => {
    const story = await run('only tools', (wire) =>
      roundsOf(wire.request) === 0 ? wire.text('\n\n').then(() => call(wire, ['fails', {}])) : say(wire, 'So.'),
    );

    expect(story.messages).toEqual(['complete: So.']);
    expect(story.events.filter(({ type }) => type === 'message.started')).toHaveLength(1);
  });

  test('is cut in the middle of its stream is called again, and what it had said is taken back', async ({ expect }) => {
    const story = await run('cut', async (wire, n) => {
      if (n > 1) return say(wire, 'All of it.');
      await wire.text('Half of');
      wire.cut();
    });

    expect(story.task).toMatchObject({ status: 'completed', output: { text: 'All of it.' } });
    expect(story.messages).toEqual(['complete: All of it.']);
    expect(story.events.filter(({ type }) => type === 'message.discarded')).toHaveLength(1);
    expect(retriesOf(story)[0]?.data.error.message).toMatch(/^model_interrupted: /);
  });

  test('is cut each time fails with what it said last kept', async ({ expect }) => {
    const story = await run('cut for ever', async (wire, n) => {
      await wire.text(`Try ${n}`);
      wire.cut();
    });

    expect(story.task.status).toBe('failed');
    expect(story.calls).toBe(4);
    expect(story.messages).toEqual(['partial: Try 4']);
    expect(errorOf(story)).toMatch(/^model_interrupted: The model's server broke off .* Try again\./);
  });

  test('ends its stream without saying why is taken for cut', async ({ expect }) => {
    const story = await run('no reason', async (wire, n) => {
      if (n > 1) return say(wire, 'Whole.');
      await wire.text('Ha');
      wire.end();
    });

    expect(story.messages).toEqual(['complete: Whole.']);
    expect(retriesOf(story)[0]?.data.error.message).toMatch(/^model_interrupted: /);
  });

  test('is cut in the middle of a tool call is called again, and the tool has not run', async ({ expect }) => {
    const story = await run('cut in a call', async (wire, n) => {
      if (n > 1) return say(wire, 'Done without.');
      await wire.call(0, 'call_1', 'pay', '{"eur', 'os":');
      wire.cut();
    });

    expect(story.task.output).toMatchObject({ text: 'Done without.' });
    expect(story.events.filter(({ type }) => type === 'tool.called')).toEqual([]);
    expect(retriesOf(story)).toHaveLength(1);
  });

  test.for([
    ['no JSON', '{"euros": 5', /^The arguments cannot be read: They are not JSON/],
    ['not what the tool takes', '{"euros": "five"}', /^The arguments do not fit\. euros: /],
    ['no object', '[5]', /^The arguments do not fit\. /],
    ['beyond JSON', '{"euros": 1e999}', /^The arguments cannot be read: A number in them is too large\./],
    [
      'too long',
      `{"euros": 5, "why": "${'x'.repeat(256 * 1024)}"}`,
      /^The arguments cannot be read: They are too long/,
    ],
  ] as const)('gives arguments that are %s is told so, and mends them', async ([name, text, told], { expect }) => {
    const results: unknown[] = [];
    const story = await run(`arguments ${name}`, async (wire, n) => {
      results.push(...resultsOf(wire.request));
      if (n === 3) return say(wire, 'Paid.');
      await wire.call(0, `call_${n}`, 'pay', n === 1 ? text : '{"euros":5}');
      await wire.finish('tool_calls');
    });

    expect(results[0]).toMatch(told);
    expect(results.at(-1)).toBe('{"paid":5,"key":32}');
    expect(story.task).toMatchObject({ status: 'completed', output: { text: 'Paid.', steps: 3 } });
  });

  test('calls a tool that there is not is told which there are', async ({ expect }) => {
    const results: unknown[] = [];
    const story = await run('unknown tool', (wire) => {
      results.push(...resultsOf(wire.request));
      return roundsOf(wire.request) === 0 ? call(wire, ['fly#>', { to: 'Mars' }]) : say(wire, 'I cannot fly.');
    });

    expect(results).toEqual([
      'There is no tool "fly#>". There are: note, fails, hangs, meets, pay, ask_user_questions.',
    ]);
    expect(story.task).toMatchObject({ status: 'completed', output: { text: 'I cannot fly.' } });
  });

  test('refuses with 429 is called again when its Retry-After is over', async ({ expect }) => {
    const story = await run('429', (wire, n) =>
      n === 1 ? wire.refuse(429, { message: 'Slow down.' }, { 'Retry-After': '1' }) : say(wire, 'Now.'),
    );

    expect(story.messages).toEqual(['complete: Now.']);
    expect(retriesOf(story).map(({ data }) => data.retryInMs)).toEqual([1000]);
  });

  test('refuses with 429 and a Retry-After beyond a minute fails at once', async ({ expect }) => {
    const story = await run('429 for long', (wire) =>
      wire.refuse(429, { message: 'Come back tomorrow.' }, { 'Retry-After': '86400' }),
    );

    expect(story.calls).toBe(1);
    expect(errorOf(story)).toMatch(/^model_rate_limited: .* It says: "Come back tomorrow\."$/);
  });

  test('fails with 500 is called again', async ({ expect }) => {
    const story = await run('500', (wire, n) => (n < 3 ? wire.refuse(500, { message: 'Oops' }) : say(wire, 'Fine.')));

    expect(story.messages).toEqual(['complete: Fine.']);
    expect(retriesOf(story)).toHaveLength(2);
    expect(retriesOf(story)[0]?.data.error.message).toMatch(/^model_unavailable: /);
  });

  test('tells of its failure in the middle of the stream is called again', async ({ expect }) => {
    const story = await run('error in the stream', async (wire, n) => {
      if (n > 1) return say(wire, 'Better.');
      await wire.text('So');
      await wire.raw('data: {"error":{"message":"Upstream is overloaded.","code":502}}\n\n');
      wire.end();
    });

    expect(story.messages).toEqual(['complete: Better.']);
    expect(retriesOf(story)[0]?.data.error.message).toBe(
      `model_unavailable: The model's server has failed. Try again later. It says: "Upstream is overloaded."`,
    );
  });

  test.for([
    ['before its answer', false],
    ['within its answer', true],
  ] as const)('hangs %s is called again after the idle time', async ([name, hasBegun], { expect }) => {
    const story = await run(`hangs ${name}`, async (wire, n) => {
      if (n > 1) return say(wire, 'Awake.');
      if (hasBegun) await wire.text('Zzz');
    });

    expect(story.messages).toEqual(['complete: Awake.']);
    expect(retriesOf(story)[0]?.data.error.message).toBe(
      `model_idle: The model's server sent nothing for ${IDLE_MS} ms. Try again, or allow it more by HOLDFAST_MODEL_IDLE_MS.`,
    );
  });

  test('only keeps its connection is not taken for idle', async ({ expect }) => {
    const story = await run('keeps its connection', async (wire) => {
      // The slowness is the stub's: longer than the idle time in all, never so long without a byte.
      for (const _beat of [1, 2, 3]) {
        await wire.open();
        await delay(IDLE_MS / 2);
      }
      await say(wire, 'At last.');
    });

    expect(story.messages).toEqual(['complete: At last.']);
    expect(story.calls).toBe(1);
  });

  test('has too small a context fails when there is nothing to leave out', async ({ expect }) => {
    const story = await run('context', (wire) =>
      wire.refuse(400, {
        message: "This model's maximum context length is 10 tokens.",
        code: 'context_length_exceeded',
      }),
    );

    expect(story.calls).toBe(1);
    expect(errorOf(story)).toMatch(/^model_context_too_long: .* Begin a new conversation/);
  });

  test('does not accept the key fails at once, and says what to check', async ({ expect }) => {
    const keys: unknown[] = [];
    const story = await run('401', (wire) => {
      keys.push(wire.authorization);
      wire.refuse(401, { message: 'Incorrect API key provided.' });
    });

    expect(keys).toEqual(['Bearer sk-test']);
    expect(story.task).toMatchObject({
      status: 'failed',
      error: {
        code: 'agent_error',
        message:
          'model_unauthorized: The model\'s server does not accept the key. Check HOLDFAST_MODEL_KEY. It says: "Incorrect API key provided."',
      },
    });
  });

  test('sends what is no JSON is called again', async ({ expect }) => {
    const story = await run('garbage', async (wire, n) => {
      if (n > 1) return say(wire, 'Clear.');
      await wire.raw('data: <html>\n\n');
      wire.end();
    });

    expect(story.messages).toEqual(['complete: Clear.']);
    expect(retriesOf(story)[0]?.data.error.message).toMatch(/^model_bad_response: /);
  });

  test('is stopped by its filter or its length ends the task with that as the reason', async ({ expect }) => {
    const long = await run('length', (wire) => wire.text('And so').then(() => wire.finish('length')));
    const filtered = await run('filter', (wire) => wire.finish('content_filter'));

    expect(long.task.output).toMatchObject({ text: 'And so', finishReason: 'length' });
    expect(filtered.task.output).toMatchObject({ text: '', finishReason: 'content-filter' });
  });

  test('repeats the key in its refusal has it blanked out', async ({ expect }) => {
    const story = await run('key', (wire) => wire.refuse(401, { message: 'Incorrect API key: sk-test.' }));

    expect(errorOf(story)).toMatch(/It says: "Incorrect API key: \*\*\*\."$/);
    expect(JSON.stringify(story.events)).not.toContain('sk-test');
  });

  test('refuses to be shown its reasoning is called again without it, and not shown it any more', async ({
    expect,
  }) => {
    const shown: boolean[] = [];
    const story = await run('reasoning refused', async (wire) => {
      const hasReasoning = wire.request.messages.some((message) => 'reasoning_content' in message);
      shown.push(hasReasoning);
      if (hasReasoning) return wire.refuse(400, { message: "property 'reasoning_content' is unsupported" });
      if (roundsOf(wire.request) === 2) return say(wire, 'Done.');
      await think(wire, 'Hm.');
      await call(wire, ['pay', { euros: 1 }]);
    });

    expect(story.task.output).toMatchObject({ text: 'Done.', steps: 3 });
    expect(shown).toEqual([false, true, false, false]);
  });

  test('thinks without end has no more kept of it than the step can hold', async ({ expect }) => {
    let kept = 0;
    const story = await run('reasoning for ever', async (wire, n) => {
      if (n > 1) {
        for (const message of wire.request.messages) {
          if ('reasoning_content' in message) kept += String(message.reasoning_content).length;
        }
        return say(wire, 'Done.');
      }
      for (let piece = 0; piece < 20; piece++) await think(wire, 'hm… '.repeat(25_000));
      await call(wire, ['pay', { euros: 1 }]);
    });

    expect(story.task.output).toMatchObject({ text: 'Done.', steps: 2 });
    expect(kept).toBeGreaterThan(150_000);
    expect(kept).toBeLessThanOrEqual(256 * 1024);
  });

  test('gives every call the same id has its results told apart', async ({ expect }) => {
    const prompts: Wire['request'][] = [];
    await run('same ids', async (wire, n) => {
      prompts.push(wire.request);
      if (n === 3) return say(wire, 'Done.');
      await wire.call(0, 'call_0', 'pay', `{"euros":${n}}`);
      await wire.finish('tool_calls');
    });

    const ids = prompts[2]?.messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
    expect(ids).toEqual(['call_1', 'call_2']);
  });
});

test('a server of models that is not there fails the task with where to look', async () => {
  const alone = await startServerProcess({
    agents: ['test/agents/assistant-agents.ts'],
    env: { HOLDFAST_MODEL_URL: 'http://127.0.0.1:9/v1', HOLDFAST_MODEL: 'none' },
  });
  try {
    const task = await createApi(alone.url).run('chat', { message: 'Anybody?' });

    expect(task.error?.message).toMatch(/^model_unavailable: .* Check HOLDFAST_MODEL_URL, and whether it runs\./);
  } finally {
    await alone.stop();
  }
});

test('the URL of an environment that is no good is nothing to an assistant with its own model', async () => {
  const badly = await startServerProcess({
    agents: ['test/agents/assistant-agents.ts'],
    env: { HOLDFAST_MODEL_URL: 'localhost:11434', HOLDFAST_MODEL: '' },
  });
  try {
    const task = await createApi(badly.url).run('own-model', { message: 'Hello?' });

    expect(task.output).toMatchObject({ text: 'I am my own.' });
  } finally {
    await badly.stop();
  }
});

test('an environment that is no good fails the task with what to mend', async () => {
  const env = { HOLDFAST_MODEL_URL: 'localhost:11434', HOLDFAST_MODEL: '', HOLDFAST_MAX_STEPS: 'many' };
  const badly = await startServerProcess({ agents: ['test/agents/assistant-agents.ts'], env });
  try {
    const task = await createApi(badly.url).run('chat', { message: 'Hello?' });

    expect(task.error?.message).toMatch(
      /^model_misconfigured: HOLDFAST_MODEL_URL must be a URL.*HOLDFAST_MAX_STEPS must/,
    );
  } finally {
    await badly.stop();
  }
});
