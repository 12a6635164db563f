import { expect, test } from 'vitest';
import { checkProgram } from './check-program.ts';

/** How many, and from which seed on: a failure names its own. */
const PROGRAMS = Number(process.env.HOLDFAST_REPLAY_PROGRAMS ?? 100);
const FIRST = Number(process.env.HOLDFAST_REPLAY_FIRST ?? 1);

test(
  'whatever a program does and whatever is lost, it is given the same, tells each event once, and ends as its journal says',
  async () => {
    for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
      const { complaints, story } = await checkProgram(seed);
      if (complaints.length > 0) expect.fail(`${complaints.join('\n')}\n${story}`);
    }
  },
  Math.max(120_000, 1000 * PROGRAMS),
);
