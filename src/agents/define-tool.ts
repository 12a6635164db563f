import type { Tool, ToolContext } from './tool.ts';
import { parseToolInput, type ToolInputSchema, toolInputSchema } from './tool-input.ts';

/** What every OpenAI-compatible model takes for a tool's name. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The longest that a timer of Node can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What a tool's author writes. @see docs/agents.md */
export interface ToolDefinition<Input> {
  /** Letters, digits, `_` and `-`, at most 64 characters. */
  name: string;
  /** What it does and when to use it: the model chooses by this. */
  description: string;
  /** A Standard Schema of an object that knows its JSON Schema, for example one of zod. */
  input: ToolInputSchema<Input>;
  /** Whether people must agree before it runs. A function is asked once, when the model calls. Default false. */
  needsApproval?: boolean | ((input: Input) => boolean | Promise<boolean>);
  /** How long one call may take; then its signal aborts and it has failed. Default: as long as it likes. */
  timeoutMs?: number;
  /** Does not run again when nobody knows how far it has come: the model is told so. Default false. */
  once?: boolean;
  /** What it returns, JSON of at most 1 MiB, or throws is told to the model. */
  run(input: Input, context: ToolContext): Promise<unknown> | unknown;
}

/**
 * Defines a tool for assistants.
 *
 * @throws TypeError naming the rule that the definition breaks
 */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, needsApproval = false, timeoutMs, once = false } = definition;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw new TypeError(`A tool's name is letters, digits, "_" and "-", at most 64; not ${JSON.stringify(name)}.`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new TypeError(`Tool "${name}" needs a description: the model chooses by it.`);
  }
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw new TypeError(`needsApproval of tool "${name}" must be true, false or a function.`);
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new TypeError(`timeoutMs of tool "${name}" must be more than 0 and at most ${MAX_TIMEOUT_MS} ms.`);
  }
  if (typeof once !== 'boolean') throw new TypeError(`once of tool "${name}" must be true or false.`);
  if (typeof definition.run !== 'function') throw new TypeError(`Tool "${name}" needs a function "run".`);
  return Object.freeze<Tool>({
    kind: 'tool',
    name,
    description,
    inputSchema: inputSchemaOf(name, input),
    once,
    ...(timeoutMs !== undefined && { timeoutMs }),
    parse: (given) => parseToolInput(input, given),
    needsApproval: (parsed: Input) => (typeof needsApproval === 'boolean' ? needsApproval : needsApproval(parsed)),
    run: (parsed: Input, context) => definition.run(parsed, context),
  });
}

function inputSchemaOf(name: string, input: ToolInputSchema<unknown>): Tool['inputSchema'] {
  try {
    return toolInputSchema(input);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`The input of tool "${name}" will not do: ${why}`);
  }
}
