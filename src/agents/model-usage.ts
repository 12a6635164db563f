import type { LanguageModelV3Usage } from '@ai-sdk/provider';

/** Tokens, each null where the model's server did not say. */
export type ModelUsage = Record<'inputTokens' | 'outputTokens' | 'totalTokens', number | null>;

export const NO_USAGE: ModelUsage = Object.freeze({ inputTokens: null, outputTokens: null, totalTokens: null });

export function toUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): ModelUsage {
  const [input, output] = [inputTokens.total ?? null, outputTokens.total ?? null];
  return { inputTokens: input, outputTokens: output, totalTokens: add(input, output) };
}

/** What is known of both together. */
export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
    totalTokens: add(a.totalTokens, b.totalTokens),
  };
}

function add(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}
