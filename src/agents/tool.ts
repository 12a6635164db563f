import type { AskSpec, Reply } from '../model/agent.ts';
import type { Json, JsonObject } from '../model/json.ts';

/** What an assistant can call: something that runs, or something that people answer. */
export type AssistantTool = Tool | QuestionTool;

/** A tool that runs as a step of its own: journaled, streamed as `tool.called` and `tool.returned`. */
export interface Tool {
  readonly kind: 'tool';
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, as the model is shown it. */
  readonly inputSchema: JsonObject;
  /** How long one call may take; one that takes longer has failed. Without it, as long as it likes. */
  readonly timeoutMs?: number;
  /** A call of which nobody knows how far it has come is not made again: the model is told so. */
  readonly once?: boolean;
  /** Checks what the model gave. */
  parse(input: Json): Promise<ParsedInput>;
  /** Whether people must agree to this call first. Asked once, in the step in which the model calls: its value keeps it. */
  needsApproval(input: unknown): boolean | Promise<boolean>;
  /** What it returns or throws is told to the model. */
  run(input: unknown, context: ToolContext): Promise<unknown> | unknown;
}

/** A tool that is a question to people. */
export interface QuestionTool {
  readonly kind: 'question';
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, as the model is shown it. */
  readonly inputSchema: JsonObject;
  /** Checks what the model gave. */
  parse(input: Json): Promise<ParsedInput>;
  toAsk(input: unknown): AskSpec;
  /** A plain, truthful sentence or JSON for the model: an expiry is no consent. */
  toResult(reply: Reply, input: unknown): Json;
}

/** A tool's input as its `run` takes it, or what is wrong with it in plain words, for the model to mend. */
export type ParsedInput = { ok: true; input: unknown } | { ok: false; message: string };

/** What a tool is given beside its input. */
export interface ToolContext {
  /** The model's name for this call. */
  readonly toolCallId: string;
  /** The same each time this call is made, in any attempt: for the `Idempotency-Key` of calls to others. */
  readonly idempotencyKey: string;
  /** Which attempt of this call it is, from 1. */
  readonly attempt: number;
  /** Aborts when the task is cancelled or lost to this worker, and when `timeoutMs` is over. */
  readonly signal: AbortSignal;
  /** Appends an event of the tool's own to the task's stream. */
  emit(type: string, data?: Json): Promise<void>;
  /** @param fraction 0 to 1, or null when it cannot be said */
  progress(fraction: number | null, note?: string): Promise<void>;
}
