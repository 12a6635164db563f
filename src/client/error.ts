import type { ResetReason } from '../model/error.ts';
import type { Question } from '../model/question.ts';
import type { Task } from '../model/task.ts';

/**
 * Any failure of a request. `code` is the server's (docs/protocol.md §9), or one of the client's own:
 *
 * - `unreachable`: no answer came, or none of Holdfast's, in as many attempts as the request has.
 * - `aborted`: the caller's signal, or `client.close()`.
 */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: string;
  /** Of HTTP; null when no answer came. */
  readonly status: number | null;
  /** What is wrong with which part of the request; empty unless the server said so. */
  readonly errors: readonly { path: string; message: string }[];
  /** With `question_resolved`: how the question was resolved by whoever came first. */
  readonly question: Question | null;
  /** With `task_finished` and `conversation_busy`. */
  readonly task: Task | null;
  /** With `cursor_gone`: why. */
  readonly reason: ResetReason | null;
  /** With `cursor_gone`: where a stream goes on once the state has been read again. */
  readonly resumeAfter: string | null;

  constructor(code: string, message: string, more: Partial<Details> = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = more.status ?? null;
    this.errors = more.errors ?? [];
    this.question = more.question ?? null;
    this.task = more.task ?? null;
    this.reason = more.reason ?? null;
    this.resumeAfter = more.resumeAfter ?? null;
  }
}

interface Details {
  status: number;
  errors: { path: string; message: string }[];
  question: Question;
  task: Task;
  reason: ResetReason;
  resumeAfter: string;
  cause: unknown;
}
