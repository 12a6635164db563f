import type { LanguageModelV3, LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import type { StepHandle } from '../model/agent.ts';
import { callsAsText } from './calls-as-text.ts';
import { openModel } from './model.ts';
import { readModelConfig } from './model-config.ts';
import { type PlannedCall, planCalls } from './planned-call.ts';
import { type PromptMessage, toolCallIds, toPrompt } from './prompt.ts';
import { type StreamedAnswer, streamAnswer } from './streamed-answer.ts';
import type { AssistantTool } from './tool.ts';
import type { ToolSource } from './tool-call.ts';

/** What an assistant's author may have settled; the environment says the rest. */
export interface ModelChoice {
  model?: LanguageModelV3;
  system?: string;
  maxSteps?: number;
  tools: ToolSource;
}

/** What one call of the model came to: the value of its step. */
export interface ModelAnswer extends Omit<StreamedAnswer, 'calls'> {
  calls: PlannedCall[];
  /** The model was out of steps, and had to answer. */
  isLast: boolean;
}

const LAST_CALL = 'You have no tool calls left. Answer now, with what you know, and say what is still open.';

/**
 * Calls the model once. Whatever depends on the environment is read here and goes into the value: a task may go on under
 * another.
 *
 * @param n the call's number in the task, from 1
 * @throws ModelFailure
 */
export async function askModel(
  step: StepHandle,
  choice: ModelChoice,
  messages: readonly PromptMessage[],
  n: number,
): Promise<ModelAnswer> {
  const config = readModelConfig(undefined, choice.model !== undefined);
  const { model, system = config.systemPrompt, maxSteps = config.maxSteps } = choice;
  const isLast = n > maxSteps;
  const tools = await choice.tools(step.signal);
  const prompt = toPrompt(
    isLast ? `${system}\n\n${LAST_CALL}`.trim() : system,
    tools.length === 0 ? callsAsText(messages) : messages,
  );
  const { calls, ...answer } = await streamAnswer(step, {
    open: async (onBytes) => model ?? openModel(config, onBytes),
    idleMs: config.idleMs,
    key: model === undefined ? (config.server?.key ?? null) : null,
    request: {
      prompt,
      ...(tools.length > 0 && { tools: tools.map(shownTool) }),
      // Servers refuse a prompt with calls of tools that are not offered any more.
      ...(tools.length > 0 && isLast && { toolChoice: { type: 'none' } }),
    },
    mustSay: isLast,
  });
  return { ...answer, calls: isLast ? [] : await planCalls(calls, tools, toolCallIds(messages)), isLast };
}

function shownTool({ name, description, inputSchema }: AssistantTool): LanguageModelV3FunctionTool {
  // What a tool gives is the JSON of a JSON Schema, which its type says of no more than that it is JSON.
  return {
    type: 'function',
    name,
    description,
    inputSchema: inputSchema as LanguageModelV3FunctionTool['inputSchema'],
  };
}
