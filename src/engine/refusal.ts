import { type ErrorCode, HoldfastError } from '../model/error.ts';
import { toTask } from '../model/task.ts';
import type { Outcome, Refusal, RefusalCode, Success } from '../model/verb.ts';
import type { LogState } from '../store/store.ts';
import { plainCursor } from './position.ts';

/** @throws HoldfastError with the refusal's code, if it is one */
export function unwrap<Result>(outcome: Outcome<Result>, log: LogState): Success<Result> {
  if (outcome.ok) return outcome;
  throw toError(outcome, log);
}

function toError({ code, message, details }: Refusal, log: LogState): HoldfastError {
  const { task, ...rest } = details;
  const wire = task === undefined ? {} : { task: toTask(task, (seq) => plainCursor(log, seq)) };
  return new HoldfastError(clientCode(code), message, { ...rest, ...wire });
}

/** For a commit that was refused: null for want of space, which passes; anything else is thrown on. */
export function unlessFull(error: unknown): null {
  if (error instanceof HoldfastError && error.code === 'storage_full') return null;
  throw error;
}

/** The codes that are for workers and loops mean a bug where they reach a client. */
function clientCode(code: RefusalCode): ErrorCode {
  return code === 'lease_lost' || code === 'limit_exceeded' || code === 'not_claimable' || code === 'not_due'
    ? 'internal'
    : code;
}
