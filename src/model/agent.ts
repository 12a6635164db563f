import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonObject } from './json.ts';
import type { Answers } from './question.ts';
import type { ItemSpec } from './question-spec.ts';

/** What an agent's author writes. @see README.md, docs/agents.md */
export interface AgentDefinition<Input = unknown> {
  /** Lower-case letters, digits, `-` and `_`, at most 64 characters, beginning with a letter. */
  name: string;
  /** Change it when the code changes so that a task begun before should take its old path. Default `'1'`. */
  version?: string;
  description?: string;
  /** Any Standard Schema. A zod schema is shown to clients as JSON Schema too. Without one, any JSON is taken. */
  input?: StandardSchemaV1<unknown, Input>;
  /**
   * Does the work. What it returns is the task's output: JSON, at most 1 MiB; `undefined` becomes null. What it throws
   * fails the task with `agent_error`.
   */
  run(task: TaskHandle<Input>, input: Input): Promise<unknown> | unknown;
}

/**
 * A task as its agent sees it. A promise of a method settles once what it stands for is on disk, in the order in which
 * it got there, never before; it rejects only for a bad argument or with a step's own failure.
 *
 * Names have 1 to 64 characters, but no `#`, `>`, NUL or lone surrogate. A name used again is numbered in the order of
 * the calls.
 */
export interface TaskHandle<Input = unknown> {
  readonly id: string;
  readonly input: Input;
  /** How often the task has been begun, from 1. */
  readonly attempt: number;
  /** The agent's `version` when the task first ran. */
  readonly version: string;
  /** The conversation that the task belongs to, or null. */
  readonly conversation: Conversation | null;
  /** Aborts when the task is cancelled, has used up its time, or is lost to this worker. */
  readonly signal: AbortSignal;

  /** Runs `fn` and resolves to what it returns: JSON, at most 1 MiB; `undefined` becomes null. */
  step<T>(name: string, fn: (step: StepHandle) => Promise<T> | T, options?: StepOptions): Promise<T>;
  /**
   * Streams an assistant's message to everyone who watches, and resolves to its whole text. A function runs only when
   * it must.
   */
  say(name: string, text: string | ((step: StepHandle) => SayResult | Promise<SayResult>)): Promise<string>;
  /** Asks people, and waits without holding anything. Never throws for what people do. */
  ask(name: string, spec: AskSpec): Promise<Reply>;
  /** Waits at least `ms`, 0 or more, without holding anything. */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * Starts a child task, and resolves when it is there. It ends with this task at the latest: one that is unfinished then
   * is cancelled. Children nest 16 deep; one that is deeper fails at once, with `limit_exceeded`.
   */
  spawn(name: string, agent: string, input?: Json): Promise<ChildHandle>;
  /** Takes the messages that were sent to the task since it looked last, oldest first; none is no reason to wait. */
  inbox(): Promise<Json[]>;
  /** @param fraction 0 to 1, or null when it cannot be said */
  progress(fraction: number | null, note?: string): Promise<void>;
  /**
   * Appends an event of the agent's own. Back-pressure is its promise: await it, or hold a few.
   *
   * @param type dotted, lower case, none of the server's prefixes
   * @param data JSON, at most 64 KiB; default `{}`
   */
  emit(type: string, data?: Json): Promise<void>;
  /** Epoch ms at the last thing that was delivered to the agent. The same on every replay, as are the next two. */
  now(): number;
  /** 0 ≤ x < 1 */
  random(name: string): number;
  uuid(name: string): string;
}

/** The conversation that a task belongs to, as its agent sees it. */
export interface Conversation {
  readonly id: string;
  /**
   * The turns before this one, oldest first: the newest 50 at most, and no more of them than 512 KiB of JSON. The same on
   * every replay. For a task that is no turn, all turns that had been begun before it.
   */
  history(): Promise<Turn[]>;
}

/** A turn of a conversation: what somebody wrote, and what came of it, in the order of the log. */
export interface Turn {
  taskId: string;
  /** How the turn stood when it was read. */
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  entries: TurnEntry[];
}

export type TurnEntry =
  | { kind: 'message'; role: 'user' | 'assistant'; content: string; status: 'complete' | 'partial' }
  | { kind: 'tool'; toolCallId: string; name: string; input: Json; outcome: ToolOutcome };

/** What came of a tool's call. `unfinished`: its turn ended before it. `truncated`: the output was over 64 KiB, and is null here. */
export type ToolOutcome =
  | { status: 'returned'; output: Json; truncated?: true }
  | { status: 'failed'; error: { code: string; message: string } }
  | { status: 'unfinished' };

/** What the function of a step is given in place of the task. */
export interface StepHandle {
  /** The same each time this step runs, in any attempt: for the `Idempotency-Key` of calls to others. */
  readonly idempotencyKey: string;
  /** Which attempt of this step it is, from 1. */
  readonly attempt: number;
  /** Aborts with the task's, when `timeoutMs` is over, and when the attempt has failed otherwise. */
  readonly signal: AbortSignal;
  emit(type: string, data?: Json): Promise<void>;
  /** Streams a message of its own from inside the step. */
  say(text: SayResult): Promise<string>;
  progress(fraction: number | null, note?: string): Promise<void>;
}

export type SayResult = string | AsyncIterable<string>;

export interface StepOptions {
  /** Whether and how a failed step is attempted again. Default: it is not. */
  retry?: RetryOptions;
  /**
   * Does not run the function again when nobody knows how far it has come: journals the start first; a repeat throws an
   * error with `code: 'step_uncertain'`. An error that it throws is an outcome: another attempt of the task runs it again. A name of its own, since that is remembered by the key. With `retry` it
   * is a TypeError.
   */
  once?: boolean;
  /** How long one attempt may take; then its signal aborts and it fails. */
  timeoutMs?: number;
  /**
   * Tells clients that the step is this call of a tool. `toolCallId` and `name` have at most 255 characters, `input` at
   * most 64 KiB of JSON. Clients see an output of up to 64 KiB; of a larger one they are told that it is `truncated`.
   */
  tool?: { toolCallId: string; name: string; input: Json };
}

export interface RetryOptions {
  /** Attempts in all, the first included. Default 3. */
  attempts?: number;
  /** The longest wait before the second attempt; it doubles from one to the next, with full jitter. Default 500. */
  baseMs?: number;
  /** Default 30,000. */
  maxMs?: number;
}

export interface AskSpec {
  /** 1 to 20. */
  items: ItemSpec[];
  /** Shown to clients, never read by the server. */
  metadata?: JsonObject;
  /** How long it stays open, from the asking. Default 15 minutes; null never expires. */
  timeoutMs?: number | null;
  /** Aborting it withdraws the question. */
  signal?: AbortSignal;
}

/** What came of a question. An expiry is no consent. */
export type Reply =
  | { status: 'answered'; answers: Answers; resolvedBy: string }
  | { status: 'declined'; reason: string | null }
  | { status: 'expired' }
  | { status: 'withdrawn' };

export interface ChildHandle {
  readonly id: string;
  /** What the child comes to, the same promise each time. Waits without holding anything; never throws for what it does. */
  result(): Promise<ChildResult>;
}

export type ChildResult =
  | { status: 'completed'; output: Json }
  | { status: 'failed'; error: { code: string; message: string } }
  | { status: 'cancelled'; reason: string | null };
