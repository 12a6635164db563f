import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type ChatRequest, type OpenAiStub, openOpenAiStub, type Wire } from '../support/openai-stub.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { call, resultsOf, roundsOf, say, toolChoiceOf } from './stub-replies.ts';

let stub: OpenAiStub;
let server: ServerProcess;
let api: Api;
const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-assistant-'));
const scripts = new Map<string, (wire: Wire, round: number) => unknown>();

beforeAll(async () => {
  stub = await openOpenAiStub((wire) => {
    const answer = scripts.get(wire.request.messages.findLast(({ role }) => role === 'user')?.content ?? '');
    if (answer === undefined) throw new Error('Nobody has written an answer to that.');
    return answer(wire, roundsOf(wire.request));
  });
  server = await startServerProcess({
    agents: ['test/agents/assistant-agents.ts'],
    env: {
      HOLDFAST_MODEL_URL: stub.url,
      HOLDFAST_MODEL: 'stub-1',
      HOLDFAST_SYSTEM_PROMPT: 'You are kind.',
      HOLDFAST_MAX_STEPS: '1',
      TOOL_FILE: path.join(dir, 'noted'),
      HOLDFAST_AGENT_ENV: 'TOOL_FILE',
    },
  });
  api = createApi(server.url);
});

afterAll(async () => {
  await server?.stop();
  await stub?.close();
  rmSync(dir, { recursive: true });
});

/** Begins a task whose model answers as the test says; the message names the test. */
async function begin(message: string, answer: (wire: Wire, round: number) => unknown, agent = 'worker-bee') {
  const requests: ChatRequest[] = [];
  scripts.set(message, (wire, round) => {
    requests.push(wire.request);
    return answer(wire, round);
  });
  const { id } = await api.createTask({ agent, input: { message } });
  return { id, requests, ended: () => api.ended(id), events: () => api.eventsOf(id) };
}

describe.concurrent('the assistant', () => {
  test('tells the model who it is and what it can call, and gives back its answer and what it cost', async ({
    expect,
  }) => {
    const { requests, ended, events } = await begin('plain', (wire) => say(wire, 'Hello', ' there.'));

    expect(await ended()).toMatchObject({
      status: 'completed',
      output: {
        text: 'Hello there.',
        steps: 1,
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        finishReason: 'stop',
      },
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      model: 'stub-1',
      stream: true,
      messages: [
        { role: 'system', content: 'You are a bee.' },
        { role: 'user', content: 'plain' },
      ],
    });
    expect(requests[0]?.tools?.[0]?.function).toMatchObject({
      name: 'note',
      parameters: { type: 'object', properties: { line: { type: 'string' } } },
    });
    const usage = (await events()).filter(({ type }) => type === 'assistant.usage');
    expect(usage.map(({ data }) => data)).toEqual([
      { step: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15, finishReason: 'stop' },
    ]);
  });

  test('makes the calls of one answer at the same time, each a step of its own', async ({ expect }) => {
    const results: unknown[] = [];
    const { ended, events } = await begin('parallel', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['meets', { of: 'two' }], ['meets', { of: 'two' }]) : say(wire, 'They met.');
    });

    expect(await ended()).toMatchObject({ status: 'completed', output: { text: 'They met.', steps: 2 } });
    expect(results).toEqual(['call_0_0', 'call_0_1']);
    const called = (await events()).filter(({ type }) => type === 'tool.called');
    expect(called.map(({ data, step }) => `${step?.name} ${data.toolCallId}`)).toEqual([
      'tool-1-meets call_0_0',
      'tool-2-meets call_0_1',
    ]);
  });

  test('tells the model of tools that fail and that take too long, and goes on', async ({ expect }) => {
    const results: unknown[] = [];
    const { ended } = await begin('failing', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['fails', {}], ['hangs', {}]) : say(wire, 'That went wrong.');
    });

    expect(await ended()).toMatchObject({ status: 'completed', output: { text: 'That went wrong.' } });
    expect(results).toEqual([
      'The disk of the tool is full.',
      'It took longer than 50 ms and was given up. It may have had an effect.',
    ]);
  });

  test('asks the user when the model wants it, and gives it the answer', async ({ expect }) => {
    const results: (string | null)[] = [];
    const questions = [{ header: 'Where', prompt: 'Where to?', options: [{ label: 'Sea' }, { label: 'Hills' }] }];
    const { id, ended, events } = await begin('asking', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['ask_user_questions', { questions }]) : say(wire, 'To the sea.');
    });

    await api.settled(id);
    const question = await api.pendingQuestion(id);
    await api.answer(question.id, 'Sea');

    expect(await ended()).toMatchObject({ output: { text: 'To the sea.' } });
    expect(question.items).toMatchObject([{ prompt: 'Where to?', header: 'Where' }]);
    expect(results[0]).toContain('Answer: Sea');
    const returned = (await events()).filter(({ type }) => type === 'tool.returned');
    expect(returned.map(({ data }) => data.output)).toEqual(results);
  });

  test('tells the model of a question that cannot be asked', async ({ expect }) => {
    const results: (string | null)[] = [];
    const questions = [{ header: 'Where', prompt: '', options: [] }];
    const { ended } = await begin('asking badly', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['ask_user_questions', { questions }]) : say(wire, 'Never mind.');
    });

    expect(await ended()).toMatchObject({ status: 'completed' });
    expect(results[0]).toMatch(/^The arguments do not fit\. /);
  });

  test('asks before it makes a call that needs approval, and makes it when somebody agrees', async ({ expect }) => {
    const results: (string | null)[] = [];
    const { id, ended } = await begin('approved', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['pay', { euros: 50 }]) : say(wire, 'Paid.');
    });

    await api.settled(id);
    const question = await api.pendingQuestion(id);
    await api.answer(question.id, true);

    expect(await ended()).toMatchObject({ output: { text: 'Paid.' } });
    expect(question.metadata).toEqual({ approval: { tool: 'pay', input: { euros: 50 } } });
    expect(results).toEqual(['{"paid":50,"key":32}']);
  });

  test('does not make a call that was refused, and tells the model', async ({ expect }) => {
    const results: (string | null)[] = [];
    const { id, ended, events } = await begin('refused', (wire, round) => {
      results.push(...resultsOf(wire.request));
      return round === 0 ? call(wire, ['pay', { euros: 51 }]) : say(wire, 'As you like.');
    });

    await api.settled(id);
    await api.answer((await api.pendingQuestion(id)).id, false);

    expect(await ended()).toMatchObject({ output: { text: 'As you like.' } });
    expect(results).toEqual(['The user did not allow this call. The call was not made.']);
    const returned = (await events()).filter(({ type }) => type === 'tool.returned');
    expect(returned.map(({ data }) => data.output)).toEqual(results);
  });

  test('makes the model answer, and call none of its tools, when it is out of steps', async ({ expect }) => {
    const { requests, ended } = await begin(
      'endless',
      (wire, round) =>
        toolChoiceOf(wire.request) === 'none' ? say(wire, 'Enough.') : call(wire, ['note', { line: `${round}` }]),
      'two-steps',
    );

    expect(await ended()).toMatchObject({
      status: 'completed',
      output: { text: 'Enough.', steps: 3, finishReason: 'max-steps' },
    });
    expect(requests.map(({ tools }) => tools?.length)).toEqual([1, 1, 1]);
    expect(requests.map(toolChoiceOf)).toEqual([undefined, undefined, 'none']);
    expect(requests[2]?.messages[0]?.content).toBe(
      'Be quick.\n\nYou have no tool calls left. Answer now, with what you know, and say what is still open.',
    );
  });

  test('takes the system prompt and the number of steps from the environment', async ({ expect }) => {
    const { requests, ended } = await begin(
      'environment',
      (wire) => (toolChoiceOf(wire.request) === 'none' ? say(wire, 'Stop.') : call(wire, ['note', { line: 'x' }])),
      'settled-elsewhere',
    );

    expect(await ended()).toMatchObject({ output: { steps: 2, finishReason: 'max-steps' } });
    expect(requests[0]?.messages[0]).toEqual({ role: 'system', content: 'You are kind.' });
  });

  test('tells the model of the turns before, the message last', async ({ expect }) => {
    const { requests, ended } = await begin('remember', (wire) => say(wire, 'I do.'), 'remembering');

    expect(await ended()).toMatchObject({ output: { text: 'I do.' } });
    expect(requests[0]?.messages.map(({ role }) => role).join(' ')).toBe(
      'system user assistant user assistant user assistant user',
    );
    expect(requests[0]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'That was six.' },
      { role: 'user', content: 'remember' },
    ]);
  });

  test('leaves out the oldest turns until the model can take it, and for the rest of the task', async ({ expect }) => {
    const { requests, ended } = await begin(
      'too much',
      (wire, round) => {
        if (wire.request.messages.length > 4 + 2 * round) return wire.refuse(400, { message: 'Prompt is too long.' });
        return round === 0 ? call(wire, ['note', { line: 'short' }]) : say(wire, 'I know the last turn.');
      },
      'remembering',
    );

    expect(await ended()).toMatchObject({ status: 'completed', output: { text: 'I know the last turn.', steps: 2 } });
    expect(requests.map(({ messages }) => messages.length)).toEqual([8, 4, 6]);
    expect(requests[1]?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'six '.repeat(200) },
      { role: 'assistant', content: 'That was six.' },
      { role: 'user', content: 'too much' },
    ]);
  });

  test('fails when the message alone is too much for the model', async ({ expect }) => {
    const { requests, ended } = await begin(
      'far too much',
      (wire) => wire.refuse(400, { message: 'Prompt is too long.' }),
      'remembering',
    );

    expect((await ended()).error?.message).toMatch(/^model_context_too_long: /);
    expect(requests.map(({ messages }) => messages.length)).toEqual([8, 4, 2]);
  });

  test.for([{}, { message: '' }, { message: 7 }])('refuses %j before there is a task', async (input, { expect }) => {
    const refused = await api.post('/v1/tasks', { agent: 'worker-bee', input });

    expect(refused.status).toBe(422);
  });
});

describe.concurrent('the chat', () => {
  test('answers with one call and no tools', async ({ expect }) => {
    const { requests, ended } = await begin('chatting', (wire) => say(wire, 'Hi.'), 'chat');

    expect(await ended()).toMatchObject({ output: { text: 'Hi.', steps: 1, finishReason: 'stop' } });
    expect(requests[0]).not.toHaveProperty('tools');
    expect(requests[0]?.messages).toEqual([
      { role: 'system', content: 'You are kind.' },
      { role: 'user', content: 'chatting' },
    ]);
  });
});
