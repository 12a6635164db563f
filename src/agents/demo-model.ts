import { setTimeout as delay } from 'node:timers/promises';
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { readConversation } from './demo-prompt.ts';
import { type DemoMove, nextMove } from './demo-script.ts';

/** How fast it types. */
const WORD_MS = 25;

/**
 * The model of a server that was given none: it needs no key and no network, and shows what an assistant can do by
 * planning a trip. The same prompt brings the same answer.
 *
 * @param wordMs how long it takes for a word; default 25
 */
export function createDemoModel({ wordMs = WORD_MS }: { wordMs?: number } = {}): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'holdfast',
    modelId: 'demo',
    supportedUrls: {},
    async doGenerate(options) {
      const { move, calls, usage, finishReason } = think(options);
      return { content: [{ type: 'text', text: move.text }, ...calls], finishReason, usage, warnings: [] };
    },
    async doStream(options) {
      return { stream: ReadableStream.from(typing(options, wordMs)) };
    },
  };
}

interface Thought {
  move: DemoMove;
  calls: LanguageModelV3ToolCall[];
  usage: LanguageModelV3Usage;
  finishReason: LanguageModelV3FinishReason;
}

function think({ prompt, tools = [], toolChoice }: LanguageModelV3CallOptions): Thought {
  const offered = toolChoice?.type === 'none' ? [] : tools.flatMap((tool) => (tool.type === 'function' ? tool : []));
  const move = nextMove(readConversation(prompt), offered);
  const made = prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ type }) => type)));
  const next = made.filter((type) => type === 'tool-call').length + 1;
  const calls = move.calls.map(
    ({ name, input }, index): LanguageModelV3ToolCall => ({
      type: 'tool-call',
      toolCallId: `call_${next + index}`,
      toolName: name,
      input: JSON.stringify(input),
    }),
  );
  const unified = calls.length > 0 ? 'tool-calls' : 'stop';
  return { move, calls, usage: usageOf(JSON.stringify(prompt), move), finishReason: { unified, raw: undefined } };
}

async function* typing(options: LanguageModelV3CallOptions, wordMs: number): AsyncGenerator<LanguageModelV3StreamPart> {
  const { move, calls, usage, finishReason } = think(options);
  const pause = () => delay(wordMs, undefined, options.abortSignal && { signal: options.abortSignal });

  yield { type: 'stream-start', warnings: [] };
  yield { type: 'response-metadata', modelId: 'demo' };
  yield { type: 'text-start', id: 'text' };
  for (const delta of move.text.split(/(?<=\s)(?=\S)/)) {
    await pause();
    yield { type: 'text-delta', id: 'text', delta };
  }
  yield { type: 'text-end', id: 'text' };
  for (const call of calls) {
    await pause();
    yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName };
    yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input };
    yield { type: 'tool-input-end', id: call.toolCallId };
    yield call;
  }
  yield { type: 'finish', usage, finishReason };
}

/** Nothing is counted: about four characters make a token. */
function usageOf(prompt: string, move: DemoMove): LanguageModelV3Usage {
  const input = Math.ceil(prompt.length / 4);
  const output = Math.ceil(JSON.stringify(move).length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
