import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createApi } from '../support/api.ts';
import { diceOf } from '../support/dice.ts';
import { readEffects } from './agents/effects.ts';
import { readEnding } from './ending.ts';
import type { CodeCopy } from './failpoint-copy.ts';
import type { Field } from './fleet/field.ts';
import { startFleet } from './fleet/fleet.ts';
import { History } from './history.ts';
import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';
import { untilQuiet } from './quiet.ts';
import type { Violation } from './rules/rule.ts';
import { judge } from './rules/rules.ts';
import { seedOf } from './seed.ts';
import { freePort, ServerLives } from './server-lives.ts';
import type { Story } from './story.ts';

/** The load unless something else is wanted; `faultsMs` is the longest time for faults. */
const LOAD = { pauseMs: 200, faultsMs: 60_000 };
/** How long waiting code stays in memory in a life: without it, each answer is a replay. */
const WARM_MS = ['0', '100', '10000'];
/** The longest time in which readers come to the end of the log. */
const FINISH_MS = 60_000;
const LEAST_TASKS = 30;
const MOST_TASKS = 60;

export interface RoundOptions {
  /** Of the round itself: the same seed throws the same dice, whatever rounds there are beside. */
  seed: number;
  nemesis: MakeNemesis;
  code: CodeCopy;
  /** A directory of its own, empty. What is in there afterwards tells the whole round. */
  dir: string;
  /** Whether tasks spawn children, and whether failed attempts are followed by others. */
  spawns: boolean;
  retries: boolean;
  /** Of a longer round: how many tasks there are, how long a client waits at most between two, how long faults may take. */
  load?: { tasks: number; pauseMs: number; faultsMs: number };
}

export interface Round {
  story: Story;
  violations: Violation[];
}

/** One life story of a server: clients and faults, then quiet, then the judgement of what it has come to. */
export async function playRound(options: RoundOptions): Promise<Round> {
  const { seed, nemesis: make, code, dir, spawns, retries } = options;
  const diceFor = (who: string) => diceOf(seedOf(seed, who));
  const history = new History(join(dir, 'history.jsonl'));
  const dataDir = join(dir, 'data');
  const nemesis = make({ dir, dataDir, history, dice: diceFor('nemesis') });
  const warmth = diceFor('warmth');
  const boot = (life: number) => {
    const own = nemesis.boot?.(life) ?? {};
    return { ...own, env: { HOLDFAST_WARM_MS: warmth.pick(WARM_MS), ...own.env } };
  };
  const server = new ServerLives({ code, dataDir, port: await freePort(diceFor('port')), history, boot });
  const calm = new AbortController();
  const over = new AbortController();
  // Every request and pause listens for them.
  setMaxListeners(0, calm.signal, over.signal);
  const field: Field = { url: server.url, history, calm: calm.signal, over: over.signal, diceFor };
  const effects = join(dir, 'effects.jsonl');
  const few = LEAST_TASKS + diceFor('tasks').below(MOST_TASKS - LEAST_TASKS);
  const { tasks, pauseMs, faultsMs } = options.load ?? { ...LOAD, tasks: few };

  try {
    const serves = await server.start();
    const [first] = history.lives;
    if (!serves && !first?.mayEndItself) throw new Error(`The server does not start: ${first?.stderr}`);
    const fleet = startFleet({ field, seed, tasks, pauseMs, input: { spawns, retries, effects } });
    await nemesis.run(server, AbortSignal.timeout(faultsMs));
    if (!server.isUp) await server.start();
    history.note('phase', { name: 'calm' });
    calm.abort();
    const stuck = await untilQuiet(server, field, fleet.created);
    // What is read in the end has outlived its process, in every other round.
    if (diceFor('end').below(2) === 0) {
      await server.kill();
      await server.start();
    }
    await Promise.race([fleet.finishReading(), pass(FINISH_MS, over.signal)]);
    over.abort();
    await fleet.left;
    const ending = await readEnding(createApi(server.url));
    await server.stop();
    const { requests, readings, lives } = history;
    const mayReset = nemesis.mayReset ?? false;
    const story = { requests, readings, lives, effects: readEffects(effects), ...ending, stuck, mayReset };
    return { story, violations: judge(story) };
  } finally {
    over.abort();
    await server.kill();
    await nemesis.close?.();
    await history.close();
  }
}
