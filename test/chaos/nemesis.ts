import type { Dice } from '../support/dice.ts';
import type { History } from './history.ts';
import type { ServerLives } from './server-lives.ts';

/** How one life of the server is started. */
export interface Boot {
  /** Beside the environment of this process: `LD_PRELOAD`, the name of a failpoint, … */
  env?: Record<string, string>;
  /** Whether this life may end without being told to. Default false: that is a violation then. */
  mayEndItself?: boolean;
}

/** Where a round takes place. */
export interface Place {
  /** The round's own directory, for whatever a nemesis keeps. It goes when the round has passed. */
  dir: string;
  /** Where the server will keep its data; not there yet. */
  dataDir: string;
  /** What clients have done so far. */
  history: History;
  /** The nemesis's own, by the seed of the round. */
  dice: Dice;
}

/**
 * What goes wrong in a round. A new one is made for each round, in a file of its own, and gets its name in `nemeses.ts`.
 *
 * In the order of a round: it is made · `boot(1)` and the first start · `run`, while clients do what they do · then the
 * faults are over: the round starts the server if `run` has left it down, and may kill and start it once more before it
 * reads what the server has in the end · `close`, when the server is gone.
 */
export interface Nemesis {
  /** Whether readers may be told `reset`: only where what was acknowledged may be lost, as a control. Default false. */
  readonly mayReset?: boolean;
  /** Called before each start. Once `run` has settled, what it gives must let the server live. Default: nothing special. */
  boot?(life: number): Boot;
  /**
   * Makes the faults, with the server serving when it begins, unless its first life might end by itself and did. Every
   * end of the server in there is the nemesis's to follow: `kill()` or `stop()` it, or await `server.ended`; then change
   * the directory, if that is the fault, and `start()` the next life, which gives false when that has ended before it
   * served.
   *
   * @param until aborts when the time for faults is over; it may settle earlier
   */
  run(server: ServerLives, until: AbortSignal): Promise<void>;
  /** Takes away what was made outside of the round's directory. */
  close?(): Promise<void>;
}

export type MakeNemesis = (place: Place) => Nemesis;
