import type { VerbCall } from '../../src/model/batch.ts';
import type { Command, Report } from '../../src/worker/protocol.ts';
import type { Dice } from '../support/dice.ts';
import type { InProcessWorker } from './in-process-pool.ts';
import type { Request } from './outside.ts';

/** What may happen next. */
export type Move =
  | { kind: 'commit'; calls: readonly VerbCall[] }
  | { kind: 'pass'; worker: InProcessWorker; command: Command }
  | { kind: 'hear'; worker: InProcessWorker; batch: readonly Report[] }
  /** Something comes to its end that is not the handle's: a step's function, or what else the code awaits. */
  | { kind: 'raw'; label: string; taskId: string; settle(): void }
  | { kind: 'outside'; request: Request }
  | { kind: 'clock'; at: number };

/** Where a process or a worker is lost. `index` counts the commits of a run, or the commands passed to workers, from 0. */
export interface Fault {
  when: 'before commit' | 'after commit' | 'before message' | 'after message';
  index: number;
  victim: 'process' | 'worker';
}

/** What faults are called where a test fails. */
export function describeFaults(faults: readonly Fault[]): string {
  return faults.map(({ when, index, victim }) => `${victim} lost ${when} ${index}`).join(', ') || 'no fault';
}

const WEIGHTS = [1, 1, 3, 10, 30];

/** Picks moves, with a preference for some kinds of them that is the same for a whole run. */
export class Picker {
  readonly #dice: Dice;
  readonly #weights: { [Kind in Move['kind']]: number };

  constructor(dice: Dice) {
    this.#dice = dice;
    const weight = () => dice.pick(WEIGHTS);
    this.#weights = { commit: weight(), pass: weight(), hear: weight(), raw: weight(), outside: weight(), clock: 1 };
  }

  pick(moves: readonly Move[]): Move {
    let left = this.#dice.below(moves.reduce((sum, { kind }) => sum + this.#weights[kind], 0));
    for (const move of moves) {
      left -= this.#weights[move.kind];
      if (left < 0) return move;
    }
    throw new Error('One of them is picked.');
  }
}
