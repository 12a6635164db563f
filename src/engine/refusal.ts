import { type ErrorCode, HoldfastError } from '../model/error.ts';
import { toTask } from '../model/task.ts';
import type { Outcome, Refusal, RefusalCode, Success } from '../model/verb.ts';
import { type LogState, StoreError } from '../store/store.ts';
import { plainCursor } from './position.ts';

const PASSING: ReadonlySet<ErrorCode> = new Set(['storage_full', 'storage_unavailable']);

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

/** For a commit or a read that failed: null for want of space or of the database, which passes; anything else is thrown on. */
export function unlessFull(error: unknown): null {
  const known = asUnavailable(error) ?? error;
  if (known instanceof HoldfastError && PASSING.has(known.code)) return null;
  throw error;
}

/** What a client is told when the database cannot be reached; null for any other error. */
export function asUnavailable(error: unknown): HoldfastError | null {
  if (!(error instanceof StoreError) || error.code !== 'storage_unavailable') return null;
  return new HoldfastError('storage_unavailable', 'The database cannot be reached at the moment.');
}

/** The codes that are for workers and loops mean a bug where they reach a client. */
function clientCode(code: RefusalCode): ErrorCode {
  return code === 'lease_lost' || code === 'limit_exceeded' || code === 'not_claimable' || code === 'not_due'
    ? 'internal'
    : code;
}
