import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';

/** What a model is to answer: text, or the calls of tools by their names, without arguments. */
export type ScriptedAnswer = string | { calls: string[] } | AsyncIterable<string>;

export interface ScriptedModel extends LanguageModelV3 {
  /** What it was asked, oldest first. */
  readonly asked: LanguageModelV3CallOptions[];
}

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** A language model of the AI SDK that answers from a list, one answer a call; the last one again and again. */
export function createScriptedModel(...answers: ScriptedAnswer[]): ScriptedModel {
  const asked: LanguageModelV3CallOptions[] = [];
  return {
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    asked,
    doGenerate: () => Promise.reject(new Error('It only streams.')),
    async doStream(options) {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? '';
      asked.push(options);
      return { stream: ReadableStream.from(partsOf(answer, asked.length)) };
    },
  };
}

async function* partsOf(answer: ScriptedAnswer, n: number): AsyncGenerator<LanguageModelV3StreamPart> {
  const calls = typeof answer === 'object' && 'calls' in answer ? answer.calls : [];
  for (const [index, toolName] of calls.entries()) {
    yield { type: 'tool-call', toolCallId: `${n}.${index}`, toolName, input: '{}' };
  }
  if (typeof answer === 'string') yield { type: 'text-delta', id: '1', delta: answer };
  else if (!('calls' in answer)) for await (const delta of answer) yield { type: 'text-delta', id: '1', delta };
  const unified = calls.length > 0 ? 'tool-calls' : 'stop';
  yield { type: 'finish', usage: USAGE, finishReason: { unified, raw: unified } };
}
