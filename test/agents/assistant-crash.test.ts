import { EventEmitter, on } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type onTestFinished, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { type ChatMessage, type OpenAiStub, openOpenAiStub, type Wire } from '../support/openai-stub.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { LogEvent } from '../support/sse-reader.ts';
import { roundsOf, say } from './stub-replies.ts';

const STEPS = 10;
const ANSWER = 'All ten steps are done.';

/** Where the server is to die: when the stub gets a request, or when some of an answer is on the server's disk. */
type Where = 'never' | 'at each step boundary' | 'in the middle of each stream';

interface Run {
  output: unknown;
  /** What the user is left with. */
  messages: string[];
  /** Messages that were begun, and neither finished nor taken back. */
  dangling: string[];
  events: LogEvent[];
  /** What the tools have really done. */
  noted: string[];
  /** The last prompt of the model. */
  prompt: ChatMessage[] | undefined;
}

/** Runs the assistant through ten steps, of which every third calls two tools at once. */
async function runTenSteps(where: Where, cleanUp: typeof onTestFinished): Promise<Run> {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-crash-'));
  const toolFile = path.join(dir, 'noted');
  writeFileSync(toolFile, '');
  const deaths = new EventEmitter();
  const killed = new Set<number>();

  async function answer(wire: Wire): Promise<void> {
    const round = roundsOf(wire.request);
    const mustDie = where !== 'never' && !killed.has(round);
    if (mustDie) killed.add(round);
    if (mustDie && where === 'at each step boundary') return void deaths.emit('death', null);
    const [first = '', ...pieces] = round === STEPS - 1 ? ANSWER.split(/(?= )/) : [`Step`, ` ${round}`, ' begins.'];
    await wire.text(first);
    if (mustDie) return void deaths.emit('death', first);
    if (round === STEPS - 1) return say(wire, ...pieces);
    await wire.text(...pieces);
    await wire.call(0, `call_${round}_0`, 'note', `{"line":"${round}`, '.0"}');
    if (round % 3 === 2) await wire.call(1, `call_${round}_1`, 'note', `{"line":"${round}.1"}`);
    await wire.finish('tool_calls');
  }

  const stub: OpenAiStub = await openOpenAiStub(answer);
  const start = () =>
    startServerProcess({
      dataDir: dir,
      agents: ['test/agents/assistant-agents.ts'],
      env: {
        HOLDFAST_MODEL_URL: stub.url,
        HOLDFAST_MODEL: 'stub',
        TOOL_FILE: toolFile,
        HOLDFAST_AGENT_ENV: 'TOOL_FILE',
      },
    });
  let server: ServerProcess = await start();
  cleanUp(async () => {
    await server.kill();
    await stub.close();
    rmSync(dir, { recursive: true });
  });
  const times = on(deaths, 'death');
  const task = await createApi(server.url).createTask({ agent: 'worker-bee', input: { message: 'Do ten steps.' } });

  const expected = where === 'never' ? 0 : STEPS;
  for (let n = 1; n <= expected; n++) {
    const { value } = await times.next();
    if (value[0] !== null) await untilOnDisk(server, task.id, n);
    await server.kill();
    server = await start();
  }

  const api = createApi(server.url);
  const { output } = await api.ended(task.id);
  const events = await api.eventsOf(task.id);
  const ids = (type: string) => events.flatMap((event) => (event.type === type ? [event.data.messageId] : []));
  const completed = events.flatMap(({ type, data }) => (type === 'message.completed' ? [data.message] : []));
  const over = new Set([...ids('message.discarded'), ...completed.map(({ id }) => id)]);
  return {
    output,
    messages: completed.map(({ content, status }) => `${status}: ${content}`),
    dangling: ids('message.started').filter((id) => !over.has(id)),
    events,
    noted: readFileSync(toolFile, 'utf8').trim().split('\n').sort(),
    prompt: stub.requests.at(-1)?.messages,
  };
}

/** Resolves when as many messages have been begun and have text, as anybody sees them. */
async function untilOnDisk(server: ServerProcess, taskId: string, messages: number): Promise<void> {
  const reader = await createApi(server.url).openStream(`/v1/tasks/${taskId}/events?after=0`);
  const begun = new Set<string>();
  await reader.until(({ data }) => {
    const event = JSON.parse(data ?? '{}');
    if (event.type === 'message.delta') begun.add(event.data.messageId);
    return begun.size === 2 * messages - 1;
  });
  reader.close();
}

/** How many tools each step but the last one calls. */
const TOOLS = Array.from({ length: STEPS - 1 }, (_, n) => (n % 3 === 2 ? 2 : 1));
const NOTED = TOOLS.flatMap((tools, n) => [`${n}.0`, `${n}.1`].slice(0, tools));
const MESSAGES = [...Array.from({ length: STEPS - 1 }, (_, n) => `complete: Step ${n} begins.`), `complete: ${ANSWER}`];

describe('ten steps of an assistant', () => {
  test.concurrent.for<Where>(['never', 'at each step boundary', 'in the middle of each stream'])(
    'end with the same answer when the server is killed %s',
    { timeout: 300_000 },
    async (where, { expect, onTestFinished }) => {
      const { output, messages, dangling, noted, prompt, events } = await runTenSteps(where, onTestFinished);

      expect(output).toEqual({
        text: ANSWER,
        steps: STEPS,
        usage: { inputTokens: 100, outputTokens: 50, totalTokens: 150 },
        finishReason: 'stop',
      });
      expect(messages).toEqual(MESSAGES);
      expect(dangling).toEqual([]);
      expect(noted).toEqual(NOTED);
      expect(events.filter(({ type }) => type === 'assistant.usage')).toHaveLength(STEPS);
      expect(events.filter(({ type }) => type === 'tool.returned')).toHaveLength(NOTED.length);
      expect(prompt?.map(({ role }) => role).join(' ')).toBe(
        `system user ${TOOLS.map((tools) => `assistant ${'tool '.repeat(tools)}`).join('')}`.trim(),
      );
      const calls = prompt?.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
      const answered = prompt?.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
      expect(answered).toEqual(calls);
    },
  );
});
