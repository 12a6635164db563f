import type { LanguageModelV3FunctionTool, LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askUserQuestions } from '../../src/agents/ask-user-questions.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { createDemoModel } from '../../src/agents/demo-model.ts';
import { searchFlights, weatherReport } from '../../src/agents/demo-tools.ts';
import type { AssistantTool, ToolContext } from '../../src/agents/tool.ts';
import type { Reply } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';

const model = createDemoModel({ wordMs: 0 });
const tripTools = [searchFlights, weatherReport, askUserQuestions];

const context: ToolContext = {
  toolCallId: 'call_1',
  idempotencyKey: 'key',
  attempt: 1,
  signal: new AbortController().signal,
  emit: async () => {},
  progress: async () => {},
};

function user(text: string): LanguageModelV3Prompt[number] {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function offered(tools: readonly AssistantTool[]): LanguageModelV3FunctionTool[] {
  return tools.map(({ name, description, inputSchema }) => ({ type: 'function', name, description, inputSchema }));
}

async function partsOf(prompt: LanguageModelV3Prompt, tools: readonly AssistantTool[]) {
  const { stream } = await model.doStream({ prompt, tools: offered(tools) });
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

interface Turn {
  prompt: LanguageModelV3Prompt;
  /** The names of the tools that each call of the model asked for. */
  called: string[][];
  asked: Json[];
  answer: string;
}

/** Lets the model work until it calls nothing more, making the calls it asks for. */
async function turn(prompt: LanguageModelV3Prompt, tools: readonly AssistantTool[], reply: Reply): Promise<Turn> {
  const result: Turn = { prompt: [...prompt], called: [], asked: [], answer: '' };
  for (;;) {
    const parts = await partsOf(result.prompt, tools);
    const text = parts.flatMap((part) => (part.type === 'text-delta' ? part.delta : [])).join('');
    const calls = parts.flatMap((part) => (part.type === 'tool-call' ? part : []));
    result.prompt.push({
      role: 'assistant',
      content: [{ type: 'text', text }, ...calls.map((call) => ({ ...call, input: JSON.parse(call.input) }))],
    });
    if (calls.length === 0) return { ...result, answer: text };
    result.called.push(calls.map(({ toolName }) => toolName));
    for (const { toolCallId, toolName, input } of calls) {
      const value = await outcome(
        tools.find(({ name }) => name === toolName),
        JSON.parse(input),
        reply,
        result.asked,
      );
      result.prompt.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } }],
      });
    }
  }
}

async function outcome(tool: AssistantTool | undefined, input: Json, reply: Reply, asked: Json[]): Promise<Json> {
  if (tool === undefined) throw new Error('The model called a tool that it was not offered.');
  const parsed = await tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  if (tool.kind === 'tool') return JSON.parse(JSON.stringify(await tool.run(parsed.input, context)));
  asked.push(input);
  return tool.toResult(reply, parsed.input);
}

function answered(text: string): Reply {
  return { status: 'answered', answers: { q1: text }, resolvedBy: 'local' };
}

describe.concurrent('the demo model', () => {
  test('calls two tools at once, asks one question with options, and uses the answer', async () => {
    const { called, asked, answer } = await turn([user('Plan a weekend in Porto')], tripTools, answered('June'));

    expect(called).toEqual([['search_flights', 'weather_report'], ['ask_user_questions']]);
    expect(asked).toMatchObject([
      {
        questions: [
          { prompt: 'When would you like to go to Porto?', options: [{ label: 'May' }, { label: 'June' }, {}] },
        ],
      },
    ]);
    expect(answer).toContain('weekend in Porto. In June you leave on Friday at 19:40, for €124');
    expect(answer).toContain('26 °C');
  });

  test('says that it is a demo, and how to get a real model', async () => {
    const { answer } = await turn([user('Plan a trip')], tripTools, answered('May'));

    expect(answer).toMatch(/demo model[\s\S]*HOLDFAST_MODEL_URL, HOLDFAST_MODEL and HOLDFAST_MODEL_KEY/);
  });

  test.each<[string, Reply, RegExp]>([
    ['words of the user', answered('in two years'), /You told me “in two years/],
    ['a refusal', { status: 'declined', reason: 'My boss decides' }, /"My boss decides", you said.*May for €89/],
    ['silence', { status: 'expired' }, /not heard from you.*chose nothing.*booked nothing/],
  ])('takes %s for what it is', async (_what, reply, expected) => {
    const { answer } = await turn([user('Lisbon, please')], tripTools, reply);

    expect(answer).toMatch(expected);
  });

  test('answers a further message with what was said before, and calls nothing', async () => {
    const first = await turn([user('Plan a weekend in Porto')], tripTools, answered('June'));

    const { called, answer } = await turn([...first.prompt, user('Which hotel?')], tripTools, { status: 'expired' });

    expect(called).toEqual([]);
    expect(answer).toMatch(/you wrote “Plan a weekend in Porto”.*weekend in Porto.*“June”.*stay near the market hall/);
  });

  test('plans anew when another city is named', async () => {
    const first = await turn([user('Plan a weekend in Porto')], tripTools, answered('June'));

    const { called, answer } = await turn([...first.prompt, user('Or rather to Rome?')], tripTools, answered('May'));

    expect(called).toHaveLength(2);
    expect(answer).toContain('weekend in Rome. In May');
  });

  test('goes on with its plan when it is steered, and takes up what was added', async () => {
    const { prompt } = await turn([user('Plan a weekend in Porto')], tripTools, answered('June'));
    const afterSearching = prompt.slice(
      0,
      prompt.findLastIndex(({ role }) => role === 'tool'),
    );
    const searched = afterSearching.slice(0, -1);

    const steered = await turn([...searched, user('We bring a dog.')], tripTools, answered('May'));

    expect(steered.called).toEqual([['ask_user_questions']]);
    expect(steered.answer).toMatch(/weekend in Porto[\s\S]*“We bring a dog.”/);
  });

  test('knows its answers from what it says before it calls something', async () => {
    const { prompt } = await turn([user('Plan a weekend in Porto')], tripTools, answered('June'));
    const [asked, calling, ...rest] = prompt;
    if (asked === undefined || calling?.role !== 'assistant') throw new Error('It called nothing.');
    const [text, ...calls] = calling.content;
    const apart = [text, calls].map((part) => ({ role: 'assistant' as const, content: [part ?? []].flat() }));
    const searched = rest.slice(
      0,
      rest.findIndex(({ role }) => role === 'assistant'),
    );

    const { called } = await turn([asked, ...apart, ...searched], tripTools, answered('May'));

    expect(called).toEqual([['ask_user_questions']]);
  });

  test('answers at once where it is offered no tools', async () => {
    const { called, answer } = await turn([user('Hello!')], [], { status: 'expired' });

    expect(called).toEqual([]);
    expect(answer).toContain('a weekend in Lisbon');
  });

  test('answers at once where it may call none of the tools it is offered', async () => {
    const { content } = await model.doGenerate({
      prompt: [user('Plan a weekend in Porto')],
      tools: offered(tripTools),
      toolChoice: { type: 'none' },
    });

    expect(content.map(({ type }) => type)).toEqual(['text']);
  });

  test('tries tools that it does not know, one after the other, and tells what they returned', async () => {
    const notes = { name: 'search_notes', description: 'Searches.', input: z.object({ query: z.string() }) };
    const report = {
      name: 'publish',
      description: 'Publishes.',
      input: z.object({
        text: z.string(),
        copies: z.int().min(2),
        kind: z.enum(['short', 'long']),
        tags: z.array(z.string()),
      }),
    };
    const tools = [
      defineTool({ ...notes, run: ({ query }) => `3 notes on ${query}` }),
      defineTool({ ...report, run: (input) => input }),
    ];

    const { called, answer } = await turn([user('tides')], tools, { status: 'expired' });

    expect(called).toEqual([['search_notes'], ['publish']]);
    expect(answer).toContain('- search_notes: “3 notes on tides”');
    expect(answer).toContain('"text":"3 notes on tides","copies":2,"kind":"short","tags":[]');
  });

  test('leaves alone what reaches outside by itself', async () => {
    const input = z.object({});
    const tools = ['fetch_page', 'files__delete'].map((name) =>
      defineTool({ name, description: 'Reaches outside.', input, run: () => null }),
    );

    expect((await turn([user('Hello!')], tools, { status: 'expired' })).called).toEqual([]);
  });

  test('gives the same to the same prompt, streamed or not', async () => {
    const prompt = [user('Plan a weekend in Porto')];

    const parts = await partsOf(prompt, tripTools);
    const { content, usage } = await model.doGenerate({ prompt, tools: offered(tripTools) });

    expect(await partsOf(prompt, tripTools)).toEqual(parts);
    expect(content.slice(1)).toEqual(parts.filter(({ type }) => type === 'tool-call'));
    expect(parts.at(-1)).toMatchObject({ type: 'finish', usage, finishReason: { unified: 'tool-calls' } });
    expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(8);
  });

  test('stops typing when it is aborted', async () => {
    const controller = new AbortController();
    const { stream } = await createDemoModel({ wordMs: 3_600_000 }).doStream({
      prompt: [user('Hello!')],
      abortSignal: controller.signal,
    });

    const read = collect(stream);
    controller.abort();

    await expect(read).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});

async function collect(stream: ReadableStream<LanguageModelV3StreamPart>): Promise<void> {
  for await (const part of stream) expect(part.type).not.toBe('text-delta');
}
