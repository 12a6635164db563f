import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { StepHandle } from '../model/agent.ts';
import { truncateUtf8, utf8Bytes } from '../model/json.ts';
import { IdleWatch } from './idle-watch.ts';
import { idleFailure, ModelFailure, toModelFailure } from './model-failure.ts';
import { type ModelUsage, NO_USAGE, toUsage } from './model-usage.ts';

/** What a model has answered, as it came. */
export interface StreamedAnswer {
  text: string;
  /** What it thought aloud, which some models want to see again: its first 256 KiB. */
  reasoning: string;
  calls: StreamedCall[];
  usage: ModelUsage;
  /** `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
}

/** `input` is text that should be JSON. */
export type StreamedCall = { toolCallId: string; name: string; input: string };

export interface AnswerOptions {
  /** @param onBytes to be called for whatever the model's server sends */
  open(onBytes: () => void): Promise<LanguageModelV3>;
  idleMs: number;
  /** Is not told, whatever the server says. */
  key: string | null;
  request: Pick<LanguageModelV3CallOptions, 'prompt' | 'tools' | 'toolChoice'>;
  /** Calls of tools are no answer. */
  mustSay: boolean;
}

/** It is kept in the value of a step, beside the answer. */
const MAX_REASONING_BYTES = 256 * 1024;

/**
 * Calls a model once. What it says is streamed as the step's message, from the first text that is to be seen. An answer
 * without either text or calls leaves an empty message: the user is told that nothing came.
 *
 * @throws ModelFailure
 */
export async function streamAnswer(
  step: StepHandle,
  { open, idleMs, key, request, mustSay }: AnswerOptions,
): Promise<StreamedAnswer> {
  const watch = new IdleWatch(idleMs);
  const stream = await ask();
  const answer: StreamedAnswer = { text: '', reasoning: '', calls: [], usage: NO_USAGE, finishReason: '' };
  let reasoningRoom = MAX_REASONING_BYTES;
  const texts = withoutLeadingSpace(textsOf(stream));
  const first = await texts.next();
  if (!first.done) answer.text = await step.say(startingWith(first.value, texts));
  else if (mustSay || answer.calls.length === 0) await step.say('');
  return answer;

  async function ask(): Promise<AsyncIterable<LanguageModelV3StreamPart>> {
    const abortSignal = AbortSignal.any([step.signal, watch.signal]);
    const model = await open(watch.heard);
    try {
      watch.begin();
      return (await model.doStream({ ...request, abortSignal })).stream;
    } catch (error) {
      throw failure(error, 'asking');
    } finally {
      watch.end();
    }
  }

  /** The text as it comes; all else goes into the answer. */
  async function* textsOf(parts: AsyncIterable<LanguageModelV3StreamPart>): AsyncGenerator<string> {
    try {
      watch.begin();
      for await (const part of parts) {
        watch.end();
        if (part.type === 'text-delta') yield part.delta;
        else take(part);
        watch.begin();
      }
      if (answer.finishReason === '') throw new Error('The stream ended without a reason.');
    } catch (error) {
      throw failure(error, 'reading');
    } finally {
      watch.end();
    }
  }

  function take(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case 'reasoning-delta':
        think(part.delta);
        break;
      case 'tool-call':
        answer.calls.push({ toolCallId: part.toolCallId, name: part.toolName, input: part.input });
        break;
      case 'finish':
        answer.usage = toUsage(part.usage);
        answer.finishReason = part.finishReason.unified;
        break;
      case 'error':
        throw toModelFailure(part.error, 'reading', key);
    }
  }

  function think(delta: string): void {
    const kept = truncateUtf8(delta, reasoningRoom);
    answer.reasoning += kept;
    reasoningRoom = kept === delta ? reasoningRoom - utf8Bytes(kept) : 0;
  }

  function failure(error: unknown, phase: 'asking' | 'reading'): ModelFailure {
    if (error instanceof ModelFailure) return error;
    return watch.signal.aborted ? idleFailure(idleMs) : toModelFailure(error, phase, key);
  }
}

/** Some models begin with line breaks, even where they only call tools. */
async function* withoutLeadingSpace(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let hasBegun = false;
  for await (const text of texts) {
    const shown = hasBegun ? text : text.trimStart();
    if (shown === '') continue;
    hasBegun = true;
    yield shown;
  }
}

async function* startingWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
