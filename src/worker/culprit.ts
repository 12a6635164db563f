import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import type { Cut } from '../model/journal.ts';

/** A copy of a task as the one whose code runs. `index`: which of its thread's copies it is, from 1. */
export interface Runner {
  readonly index: number;
  readonly taskId: string;
  readonly fence: number;
  /** Where its journal is taken back to when this was thrown; null keeps it whole. */
  cutBefore(thrown: unknown): Cut | null;
}

/** What checks an input, as what runs: it is no task's. */
export interface Checker {
  readonly index: typeof NO_TASK;
  readonly agent: string;
  /** What it checks is refused: the schema has thrown this where nobody can catch it. */
  refuse(error: unknown): void;
}

/** The index of code that runs for none of the thread's copies. */
export const NO_TASK = -1;

const running = new AsyncLocalStorage<Runner | Checker>();

/** Holds the index of whoever runs; 0 is the thread's own code. */
let cell: Int32Array = new Int32Array(1);

/** Runs code of a copy, or of a schema: it, and everything that it sets off, is that one's doing. */
export function runAs<T>(runner: Runner | Checker, code: () => T): T {
  const before = cell[0] ?? 0;
  cell[0] = runner.index;
  try {
    return running.run(runner, code);
  } finally {
    cell[0] = before;
  }
}

/** Whose doing it is that this code runs; null for nobody's. */
export function currentRunner(): Runner | Checker | null {
  return running.getStore() ?? null;
}

/**
 * Keeps the index of whoever runs where another thread can read it, even while this one is in a loop or has been ended.
 * Writes it at every turn of the event loop and every continuation of a promise, for about 50 ns each.
 */
export function showRunner(shared: Int32Array): void {
  cell = shared;
  const show = () => {
    shared[0] = running.getStore()?.index ?? 0;
  };
  createHook({ before: show }).enable();
  process.on('exit', show);
}
