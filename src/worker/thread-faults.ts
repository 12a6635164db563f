import { taskError } from '../model/task-error.ts';
import { currentRunner, type Runner } from './culprit.ts';
import { errorMessage, errorStack } from './error-message.ts';
import { own } from './own-globals.ts';
import type { Report } from './protocol.ts';

/** What no task has done is logged so often at most: it may come without end. */
const LOG_EVERY_MS = 1000;

/** The worker's own code has failed: what it was doing is lost, and nothing in the thread can be relied on. */
export class BrokenThread extends Error {
  override readonly name = 'BrokenThread';

  constructor(cause: unknown) {
    super(`The worker itself has failed: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Reports what is thrown where nobody can catch it, in a timer or a promise that nobody awaits; the thread lives on. It
 * fails the task whose code did it, once for each copy, refuses the input whose check did it, and is for the log alone
 * where it was an agent's module by itself. Only {@link BrokenThread} ends the thread.
 */
export function reportFaults(post: (report: Extract<Report, { kind: 'fault' | 'thrown' }>) => void): void {
  const reported = new Set<number>();
  let loggedAt = Number.NEGATIVE_INFINITY;

  function report(error: unknown): void {
    if (error instanceof BrokenThread) throw error;
    const runner = currentRunner();
    if (runner === null) log('', error);
    else if ('taskId' in runner) fail(runner, error);
    else {
      runner.refuse(error);
      log(runner.agent, error);
    }
  }

  function fail(copy: Runner, error: unknown): void {
    if (reported.has(copy.index)) return;
    reported.add(copy.index);
    const { taskId, fence } = copy;
    const told = taskError('agent_error', errorMessage(error));
    post({ kind: 'fault', taskId, fence, error: told, cut: copy.cutBefore(error), stack: errorStack(error) });
  }

  function log(agent: string, error: unknown): void {
    const now = own.performance.now();
    if (now - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now;
    post({ kind: 'thrown', taskId: '', agent, stack: errorStack(error) });
  }

  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}
