import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What the body of a step did to the world outside, once each time it ran that far. */
export interface Effect {
  taskId: string;
  /** The step's key: `charge`, `charge#2`. */
  key: string;
  /** The step's attempt, and the task's. */
  attempt: number;
  taskAttempt: number;
  /** Tells this run from any other. */
  nonce: string;
  /** Whether the step may run only once. */
  once: boolean;
  /** Epoch ms. */
  at: number;
  /** The process it ran in. */
  pid: number;
}

/** Adds one to the end of the file, whoever else does so at the same time. */
export function appendEffect(file: string, effect: Effect): void {
  appendFileSync(file, `${JSON.stringify(effect)}\n`);
}

/** All of the file, in the order in which they happened. */
export function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
