import type { StepFailure } from '../model/journal.ts';
import type { Copy } from './copy.ts';
import type { Deferred } from './deferred.ts';
import type { Asked } from './deliveries.ts';
import { toldValue } from './resolutions.ts';
import { stepError } from './step-failure.ts';
import { runStep, type Settled, type Step, settleUncertain } from './step-run.ts';

/**
 * Gives the agent what the journal has under the step's key, or else runs its function. What that came to reaches the
 * agent when it is on disk, and as a replay would give it: the value as its JSON says it, an error as it was journaled.
 */
export function performStep<T>(copy: Copy, step: Step, result: Deferred<T>): void {
  /** What this copy itself has reported of the step. */
  let settled: Settled | null = null;
  const asked = copy.ask(step.key, {
    kind: 'step',
    isAwaited: true,
    settle(told) {
      if (told.status === 'done') result.resolve(toldValue(told, settled?.text));
      else result.reject(failureOf(copy, told.key, toldValue(told, settled?.text), settled?.thrown));
    },
  });
  if (asked.row !== null && asked.row.status !== 'pending') return;
  const onSettled = (outcome: Settled) => {
    settled = outcome;
  };
  if (mayHaveRun(asked, step)) settleUncertain(copy, step, asked, onSettled);
  else void runStep(copy, step, asked, onSettled);
}

/** Whether the step may run only once, and may have done so. */
function mayHaveRun({ row, isMarked }: Asked, { options }: Step): boolean {
  if (row === null) return options.once && isMarked;
  return row.tries > 0 && (row.once || options.once);
}

function failureOf(copy: Copy, key: string, failure: StepFailure, thrown: unknown): Error {
  const error = stepError(failure, thrown);
  copy.blame(error, key);
  return error;
}
