import { truncateUtf8, utf8Bytes } from './json.ts';

/** Why a task failed. @see docs/protocol.md §9 */
export type TaskErrorCode =
  | 'agent_error'
  | 'unknown_agent'
  | 'invalid_input'
  | 'invalid_output'
  | 'timeout'
  | 'worker_exited'
  | 'worker_unresponsive'
  | 'out_of_memory'
  | 'nondeterministic'
  | 'crash_loop'
  | 'limit_exceeded';

export interface TaskError {
  code: TaskErrorCode;
  message: string;
  /** Present when the message was cut to 1 KiB. */
  truncated?: true;
}

const MAX_MESSAGE_BYTES = 1024;

/** A task's error with its message cut at 1 KiB, so that a terminal transition is never refused for size. */
export function taskError(code: TaskErrorCode, message: string): TaskError {
  if (utf8Bytes(message) <= MAX_MESSAGE_BYTES) return { code, message };
  return { code, message: truncateUtf8(message, MAX_MESSAGE_BYTES), truncated: true };
}
