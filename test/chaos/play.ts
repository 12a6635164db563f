import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createApi } from '../support/api.ts';
import { diceOf } from '../support/dice.ts';
import { readEffects } from './agents/effects.ts';
import { readEnding } from './ending.ts';
import type { Field } from './fleet/field.ts';
import { startFleet } from './fleet/fleet.ts';
import type { History } from './history.ts';
import { pass } from './pass.ts';
import { untilQuiet } from './quiet.ts';
import type { Round } from './round.ts';
import { judge } from './rules/rules.ts';
import { seedOf } from './seed.ts';
import type { Claim } from './story.ts';

/** The longest time in which readers come to the end of the log. */
const FINISH_MS = 60_000;

/** What clients use: one server after the other, or several at a time. */
export interface Played {
  /** The same for as long as the round takes. */
  readonly url: string;
  /** Whether all that is to be there is there. It may not serve yet. */
  readonly isUp: boolean;
  /** @returns whether it serves */
  start(): Promise<boolean>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface PlayOptions {
  /** Serves, when it is played. */
  server: Played;
  history: History;
  seed: number;
  /** Holds what the agents do outside. */
  dir: string;
  spawns: boolean;
  retries: boolean;
  load: Load;
  /**
   * Makes the faults, while clients do what they do.
   *
   * @param until aborts when the time for faults is over
   * @param created settles when there are no new tasks any more
   */
  faults(until: AbortSignal, created: Promise<unknown>): Promise<void>;
  mayReset?: boolean;
  /** What is known of claims when all is over. Default: nothing. */
  claims?(): Promise<readonly Claim[]>;
}

export interface Load {
  tasks: number;
  /** How long a client waits at most between two new tasks. */
  pauseMs: number;
  /** The longest time for faults. */
  faultsMs: number;
}

/** Clients and faults, then quiet, then the judgement of what it has come to. The server has ended afterwards. */
export async function play(options: PlayOptions): Promise<Round> {
  const { server, history, seed, dir, spawns, retries, mayReset = false } = options;
  const { tasks, pauseMs, faultsMs } = options.load;
  const diceFor = (who: string) => diceOf(seedOf(seed, who));
  const calm = new AbortController();
  const over = new AbortController();
  // Every request and pause listens for them.
  setMaxListeners(0, calm.signal, over.signal);
  const field: Field = { url: server.url, history, calm: calm.signal, over: over.signal, diceFor };
  const effects = join(dir, 'effects.jsonl');

  try {
    const fleet = startFleet({ field, seed, tasks, pauseMs, input: { spawns, retries, effects } });
    await options.faults(AbortSignal.timeout(faultsMs), fleet.created);
    if (!server.isUp) await server.start();
    history.note('phase', { name: 'calm' });
    calm.abort();
    const stuck = await untilQuiet(server, field, fleet.created, faultsMs);
    // What is read in the end has outlived its process, in every other round.
    if (diceFor('end').below(2) === 0) {
      await server.kill();
      if (!(await server.start())) throw new Error(`It does not start: ${history.lives.at(-1)?.stderr}`);
    }
    await Promise.race([fleet.finishReading(), pass(FINISH_MS, over.signal)]);
    over.abort();
    await fleet.left;
    const ending = await readEnding(createApi(server.url));
    await server.stop();
    const { requests, readings, lives } = history;
    const claims = (await options.claims?.()) ?? [];
    const story = { requests, readings, lives, effects: readEffects(effects), ...ending, stuck, mayReset, claims };
    return { story, violations: judge(story) };
  } finally {
    over.abort();
  }
}
