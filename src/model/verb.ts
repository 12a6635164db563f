import type { Changes } from './changes.ts';
import type { ConversationRecord } from './conversation.ts';
import type { ErrorCode, Issue } from './error.ts';
import type { NewEvent } from './event.ts';
import type { KeyResolution } from './journal.ts';
import type { Question, QuestionRecord } from './question.ts';
import type { TaskRecord } from './task.ts';
import type { Needs, View } from './view.ts';

/**
 * One way to change one owner's data: what must be loaded, and what then happens. Both are pure, so every race between
 * callers is settled in plain functions, the same on every engine.
 *
 * @see docs/decisions/010-load-decide-write.md
 */
export interface Verb<Args, Result> {
  needs(args: Args): Needs;
  /** @param now the store's clock in epoch ms, read after the owner's lock was taken */
  decide(view: View, args: Args, now: number): Decision<Result>;
}

/**
 * Why a verb did not do what it was asked. The last four are for workers and loops, never for a client. `limit_exceeded`:
 * the task has passed one of its limits, and is to fail with the refusal's message.
 */
export type RefusalCode = ErrorCode | 'lease_lost' | 'limit_exceeded' | 'not_claimable' | 'not_due';

export interface RefusalDetails {
  errors?: Issue[];
  question?: Question;
  task?: TaskRecord;
}

export interface Refusal {
  ok: false;
  code: RefusalCode;
  message: string;
  details: RefusalDetails;
}

export interface Success<Result> {
  ok: true;
  result: Result;
  /** True when an earlier call with this Idempotency-Key, or an equal answer, had already done it. */
  replayed: boolean;
}

export type Outcome<Result> = Success<Result> | Refusal;

export interface Decision<Result> {
  changes: Changes;
  events: readonly NewEvent[];
  resolutions: readonly KeyResolution[];
  outcome: Outcome<Result>;
}

/** A result may name the task or question concerned; a batch shows it as it stands right after the verb. */
export interface TaskResult {
  task: TaskRecord;
}

export interface QuestionResult {
  question: QuestionRecord;
}

export interface ConversationResult {
  conversation: ConversationRecord;
}

/** Changes nothing and says why. */
export function refuse(code: RefusalCode, message: string, details: RefusalDetails = {}): Decision<never> {
  return { changes: {}, events: [], resolutions: [], outcome: { ok: false, code, message, details } };
}

/** Does something. `events` are in the order of cause and effect. */
export function accept<Result>(
  result: Result,
  does: { changes?: Changes; events?: readonly NewEvent[]; resolutions?: readonly KeyResolution[] } = {},
): Decision<Result> {
  return {
    changes: does.changes ?? {},
    events: does.events ?? [],
    resolutions: does.resolutions ?? [],
    outcome: { ok: true, result, replayed: false },
  };
}

/** Finds that it was done before, and changes nothing. */
export function repeat<Result>(result: Result): Decision<Result> {
  return { changes: {}, events: [], resolutions: [], outcome: { ok: true, result, replayed: true } };
}
