import type { Lease } from '../model/fence.ts';
import { type TaskError, type TaskErrorCode, taskError } from '../model/task-error.ts';
import type { HeldCopies } from './held-copies.ts';
import { UNKNOWN } from './runner-samples.ts';

/** Why a thread is gone. */
export interface Death {
  code: TaskErrorCode;
  /** What clients may be told of the worker, and of the task that did it: no word of it comes from an agent's code. */
  ofWorker: string;
  ofCulprit: string;
  /** The index of the copy whose doing it is; {@link UNKNOWN}, or {@link NO_COPY}. */
  runner: number;
  /** What was thrown, or an error that says what happened. */
  cause: unknown;
}

/** It is known to be the doing of none of the thread's copies. */
const NO_COPY = -1;

/** What a thread takes with it. */
export interface Lost {
  /** Running and waiting ones. */
  copies: Lease[];
  /** The one of them that has certainly done it, and what its task's error is. */
  culprit: (Lease & { error: TaskError }) | null;
  /** What became of the worker. */
  error: TaskError;
}

/** Says who is to blame: whose code ran, or who was the only one there ever was. */
export function lossOf(copies: HeldCopies, { code, ofWorker, ofCulprit, runner }: Death): Lost {
  const culprit = runner === UNKNOWN ? copies.only() : copies.byIndex(runner);
  return {
    copies: copies.unfinished(),
    culprit: culprit && { ...culprit, error: taskError(code, ofCulprit) },
    error: taskError(code, ofWorker),
  };
}

/** The tasks that may have done it, when that is not known. */
export function suspectsOf(copies: HeldCopies, { runner }: Death): string[] {
  if (runner !== UNKNOWN || copies.only() !== null) return [];
  return [...copies.unfinished(), ...copies.leaving()].map(({ taskId }) => taskId);
}

/** @param thrown what was thrown in the thread and not caught; null when nothing was */
export function exited(exitCode: number, thrown: { cause: unknown } | null, runner: number): Death {
  return {
    code: 'worker_exited',
    ofWorker: 'The worker has ended.',
    ofCulprit: 'The task has ended its worker.',
    runner,
    cause: thrown === null ? new Error(`The worker exited with code ${exitCode}.`) : thrown.cause,
  };
}

/** What a thread throws that has used up the heap that the engine of JavaScript gives it. */
export function isOutOfHeap(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

export function outOfMemory(runner: number, cause: unknown): Death {
  return {
    code: 'out_of_memory',
    ofWorker: 'The worker has used up its memory.',
    ofCulprit: 'The task has used up the memory of its worker.',
    runner,
    cause,
  };
}

export function unresponsive(afterMs: number, runner: number): Death {
  const ofWorker = `The worker has not answered for ${afterMs} ms.`;
  return {
    code: 'worker_unresponsive',
    ofWorker,
    ofCulprit: `The task has kept its worker from answering for ${afterMs} ms.`,
    runner,
    cause: new Error(ofWorker),
  };
}

/** It was ended for a reason that lies in none of its copies, or in those that are gone already. */
export function ended(why: string, cause: unknown = new Error(why)): Death {
  return { code: 'worker_exited', ofWorker: why, ofCulprit: why, runner: NO_COPY, cause };
}
