import { join } from 'node:path';
import { diceOf } from '../support/dice.ts';
import { freePort } from '../support/free-port.ts';
import type { CodeCopy } from './failpoint-copy.ts';
import { History } from './history.ts';
import type { MakeNemesis } from './nemesis.ts';
import { type Load, play } from './play.ts';
import type { Violation } from './rules/rule.ts';
import { seedOf } from './seed.ts';
import { ServerLives } from './server-lives.ts';
import type { Story } from './story.ts';

/** The load unless something else is wanted; `faultsMs` is the longest time for faults. */
const LOAD = { pauseMs: 200, faultsMs: 60_000 };
/** How long waiting code stays in memory in a life: without it, each answer is a replay. */
const WARM_MS = ['0', '100', '10000'];
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
  /** Of a longer round. */
  load?: Load;
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
  const server = new ServerLives({
    ...{ code, history, boot, storage: ['--data', dataDir] },
    port: await freePort(diceFor('port')),
  });
  const few = LEAST_TASKS + diceFor('tasks').below(MOST_TASKS - LEAST_TASKS);

  try {
    const serves = await server.start();
    const [first] = history.lives;
    if (!serves && !first?.mayEndItself) throw new Error(`The server does not start: ${first?.stderr}`);
    return await play({
      ...{ server, history, seed, dir, spawns, retries, mayReset: nemesis.mayReset ?? false },
      load: options.load ?? { ...LOAD, tasks: few },
      faults: (until) => nemesis.run(server, until),
    });
  } finally {
    await server.kill();
    await nemesis.close?.();
    await history.close();
  }
}
