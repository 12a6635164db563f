import { diceOf } from '../support/dice.ts';
import { audit } from './audit.ts';
import { describeFaults, type Fault } from './moves.ts';
import { drawProgram, printProgram } from './program.ts';
import { runProgram, sameAsPredicted } from './run-program.ts';
import { tell } from './tell.ts';

const WHENS = ['before commit', 'after commit', 'before message', 'after message'] as const;
/** How often each program is run again with faults. */
const FAULTED_RUNS = 2;

export interface Checked {
  /** Empty when all is well. */
  complaints: string[];
  /** The program, what was lost, and what happened. */
  story: string;
  commits: number;
  messages: number;
}

/** Runs the program of a seed without a fault, then with some, and stops at the first run that is no good. */
export async function checkProgram(seed: number): Promise<Checked> {
  const first = await checkRun(seed, []);
  if (first.complaints.length > 0) return first;
  const dice = diceOf(seed * 7 + 1);
  for (let run = 0; run < FAULTED_RUNS; run++) {
    const faults = Array.from({ length: 1 + dice.below(3) }, (): Fault => {
      const when = dice.pick(WHENS);
      const count = when.endsWith('commit') ? first.commits : first.messages;
      return { when, index: dice.below(count), victim: dice.pick(['process', 'worker'] as const) };
    });
    const next = await checkRun(seed, faults);
    if (next.complaints.length > 0) return next;
  }
  return first;
}

async function checkRun(seed: number, faults: readonly Fault[]): Promise<Checked> {
  const program = drawProgram(seed);
  const title = `Seed ${seed}, ${program.style}, ${describeFaults(faults)}\n${printProgram(program.main)}`;
  return runProgram(program, { seed, faults }, async (world, taskIds) => {
    const strict = program.style === 'handle';
    const complaints = audit(world, { strict });
    for (const taskId of taskIds) complaints.push(...(await sameAsPredicted(world, taskId, strict)));
    const story = complaints.length === 0 ? title : `${title}\n${tell(world)}`;
    return { complaints, story, commits: world.commits, messages: world.messages };
  });
}
