import type { Question } from './question.ts';
import type { Task } from './task.ts';

/** What a request can be refused with. @see docs/protocol.md §9 */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'task_finished'
  | 'question_resolved'
  | 'conversation_busy'
  | 'idempotency_in_progress'
  | 'cursor_gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'invalid_input'
  | 'unknown_agent'
  | 'invalid_answer'
  | 'idempotency_mismatch'
  | 'rate_limited'
  | 'internal'
  | 'overloaded'
  | 'draining'
  | 'storage_full'
  | 'storage_unavailable';

/** One thing wrong in a request; `path` is a JSON Pointer into it, `''` for the whole. */
export interface Issue {
  path: string;
  message: string;
}

/** What goes along with an error, so that the caller need not ask again. */
export interface ErrorDetails {
  errors?: Issue[];
  /** The question as it is now, with `question_resolved`. */
  question?: Question;
  /** The task as it is now, with `task_finished`. */
  task?: Task;
  /** Why a cursor cannot be served, with `cursor_gone`; see docs/protocol.md §5.3. */
  reason?: ResetReason;
  /** Where to go on from, with `cursor_gone`. */
  resumeAfter?: string;
  /** Seconds after which it is worth while to ask again, with `rate_limited`. */
  retryAfter?: number;
}

export type ResetReason = 'expired' | 'unknown' | 'ahead';

/** The one error class of the server: a code for programs, a message for people. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
