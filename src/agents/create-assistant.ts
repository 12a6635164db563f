import type { LanguageModelV3 } from '@ai-sdk/provider';
import { z } from 'zod';
import type { TaskHandle, Turn } from '../model/agent.ts';
import { type Json, utf8Bytes } from '../model/json.ts';
import { type Agent, defineAgent } from '../worker/define-agent.ts';
import { askModel, type ModelAnswer, type ModelChoice } from './ask-model.ts';
import { CONTEXT_TOO_LONG } from './model-failure.ts';
import { addUsage, type ModelUsage, NO_USAGE } from './model-usage.ts';
import { assistantMessages, hasReasoning, type PromptMessage, userMessage, withoutReasoning } from './prompt.ts';
import type { AssistantTool } from './tool.ts';
import { makeCall, type ToolSource } from './tool-call.ts';
import { estimateTokens, newestTurns, turnsToMessages } from './turns-to-messages.ts';

/** What an author of an assistant may say of it. @see docs/agents.md */
export interface AssistantDefinition {
  /** Default `assistant`. */
  name?: string;
  description?: string;
  version?: string;
  /** Any language model of the AI SDK. Default: the one that the environment names. */
  model?: LanguageModelV3;
  /** The system prompt. Default: `HOLDFAST_SYSTEM_PROMPT`. */
  system?: string;
  /** A function is asked within steps, as often as tools are needed: for those that come from elsewhere. */
  tools?: readonly AssistantTool[] | ToolSource;
  /** How many calls of the model may ask for tools, before one that must answer. Default: `HOLDFAST_MAX_STEPS`, or 20. */
  maxSteps?: number;
}

/** What a task of an assistant has as its output. */
export interface AssistantOutput {
  /** What it said last. */
  text: string;
  /** How often the model was called. */
  steps: number;
  usage: ModelUsage;
  /** Why the model stopped: `stop`, `length`, `content-filter`, `tool-calls`, `other`, or `max-steps`. */
  finishReason: string;
}

const MAX_MESSAGE_BYTES = 1024 * 1024;
/** So much is told of the turns before, about. */
const HISTORY_TOKENS = 100_000;
/** A model's server that refuses for a moment may be asked again; `Retry-After` is followed up to a minute. */
const MODEL_RETRY = { attempts: 4, baseMs: 500, maxMs: 60_000 };

const INPUT = z.object({
  message: z
    .string()
    .min(1)
    .refine((text) => utf8Bytes(text) <= MAX_MESSAGE_BYTES, '1 MiB at most'),
  conversationId: z.string().nullable().optional(),
});

/** A message that came while the assistant was at work. */
const STEERED = z.object({ messageId: z.string(), content: z.string() });

/**
 * Makes an agent that answers a message with a language model, which may call tools, ask people, and be steered.
 *
 * @throws TypeError naming the rule that the definition breaks
 */
export function createAssistant(definition: AssistantDefinition = {}): Agent<z.infer<typeof INPUT>> {
  const { name = 'assistant', description, version, tools = [], ...choice } = definition;
  const { maxSteps } = choice;
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps >= 1)) {
    throw new TypeError(`maxSteps of assistant "${name}" must be a whole number, 1 or more.`);
  }
  const source = sourceOf(name, tools);
  return defineAgent({
    name,
    ...(description !== undefined && { description }),
    ...(version !== undefined && { version }),
    input: INPUT,
    run: (task, { message }) => answerMessage(task, message, { ...choice, tools: source }),
  });
}

function sourceOf(assistant: string, tools: readonly AssistantTool[] | ToolSource): ToolSource {
  if (typeof tools === 'function') return tools;
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new TypeError(`Assistant "${assistant}" has two tools named "${twice}".`);
  return async () => tools;
}

/** Between what it awaits of the task everything follows from what it was given: so a replay goes the same way. */
async function answerMessage(task: TaskHandle, message: string, choice: ModelChoice): Promise<AssistantOutput> {
  let told: Told = {
    turns: newestTurns((await task.conversation?.history()) ?? [], HISTORY_TOKENS),
    own: [userMessage(message), ...(await takeSteered(task))],
    showsReasoning: true,
  };
  let usage = NO_USAGE;
  let made = 0;
  for (let step = 1; ; step++) {
    const asked = await askWithin(task, choice, told, step);
    const { answer } = asked;
    usage = addUsage(usage, answer.usage);
    await task.emit('assistant.usage', { step, ...answer.usage, finishReason: answer.finishReason });
    const shown = await Promise.all(
      answer.calls.map(async (call, index) => ({
        ...call,
        result: await makeCall(task, call, made + index + 1, choice.tools),
      })),
    );
    made += shown.length;
    const said = assistantMessages(asked.told.showsReasoning ? answer : { text: answer.text }, shown);
    const steered = answer.isLast ? [] : await takeSteered(task);
    told = { ...asked.told, own: [...asked.told.own, ...said, ...steered] };
    if (answer.calls.length === 0 && steered.length === 0) {
      const finishReason = answer.isLast ? 'max-steps' : answer.finishReason;
      return { text: answer.text, steps: step, usage, finishReason };
    }
  }
}

/** What the model is told. */
interface Told {
  turns: readonly Turn[];
  /** Of this turn. */
  own: readonly PromptMessage[];
  /** False once the model's server has refused to be shown what its model thought. */
  showsReasoning: boolean;
}

/** Calls the model, and again with less as long as it is told what it does not take. */
async function askWithin(
  task: TaskHandle,
  choice: ModelChoice,
  told: Told,
  n: number,
): Promise<{ answer: ModelAnswer; told: Told }> {
  try {
    const messages = [...turnsToMessages(told.turns), ...told.own];
    const answer = await task.step('model', (step) => askModel(step, choice, messages, n), { retry: MODEL_RETRY });
    return { answer, told };
  } catch (error) {
    const less = withLess(told, error);
    if (less === null) throw error;
    return askWithin(task, choice, less, n);
  }
}

/** Null where the failure is another, or there is nothing to leave out. */
function withLess({ turns, own, showsReasoning }: Told, error: unknown): Told | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && error.code === CONTEXT_TOO_LONG && turns.length > 0) {
    return { turns: newestTurns(turns, estimateTokens(turns) / 2), own, showsReasoning };
  }
  if ('refuses' in error && error.refuses === 'reasoning' && hasReasoning(own)) {
    return { turns, own: withoutReasoning(own), showsReasoning: false };
  }
  return null;
}

async function takeSteered(task: TaskHandle): Promise<PromptMessage[]> {
  const entries: Json[] = await task.inbox();
  return entries.map((entry) => userMessage(STEERED.parse(entry).content));
}
