/**
 * Cuts the power of a real server many times: `npm run chaos:power -- --rounds 50 --seed 1`. Then does the same where
 * commits are not synced, a tenth as often, which must be caught losing. Ends with 1 when anything was lost that must not
 * be, or nothing that must.
 */
import { parseArgs } from 'node:util';
import { type Change, copyCode, SYNC_AT_CHECKPOINTS_ONLY } from './failpoint-copy.ts';
import { cutPower, POWER_CUT_AGENTS, type PowerCutFigures } from './power-cut.ts';
import { buildShim, type Shim } from './power-cut-shim.ts';

/** Of a control: enough for the cut that a server goes on from to take something. */
const LEAST_ROUNDS = 6;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    /** Moments of each round that are looked at, beside its end. */
    cuts: { type: 'string', default: '20' },
  },
});
const [rounds = 0, seed = 0, cuts = 0] = [values.rounds, values.seed, values.cuts].map(Number);
if (![rounds, seed, cuts].every(Number.isSafeInteger)) {
  console.error('--rounds, --seed and --cuts take whole numbers.');
  process.exit(2);
}
const shim = built();

const synced = await play('synced', [], rounds);
const control = await play('not synced', SYNC_AT_CHECKPOINTS_ONLY, Math.max(LEAST_ROUNDS, Math.ceil(rounds / 10)));
const holds = synced.lost + synced.reused + synced.resets + synced.faults.length === 0;
const isCaught = control.lost > 0 && control.resets > 0 && control.faults.length === 0;
console.log(holds ? 'Nothing that was told was lost.' : 'BROKEN: something that was told was lost.');
console.log(isCaught ? 'Without syncs the loss is caught.' : 'BROKEN: without syncs no loss is caught.');
if (!(holds && isCaught)) console.log(`again: npm run chaos:power -- --rounds ${rounds} --seed ${seed} --cuts ${cuts}`);
process.exitCode = holds && isCaught ? 0 : 1;

function built(): Shim {
  const shim = buildShim();
  if (shim !== null) return shim;
  console.error('A power cut is acted out on Linux, with gcc.');
  process.exit(2);
}

async function play(what: string, changes: readonly Change[], count: number): Promise<PowerCutFigures> {
  const copy = copyCode([POWER_CUT_AGENTS], changes);
  const say = (line: string) => console.log(`${what}: ${line}`);
  const options = { copy, shim, rounds: count, cuts, seed, say };
  const figures = await cutPower(options).finally(copy.remove);
  const { faults, ...counts } = figures;
  console.log(
    `${what}: ${Object.entries(counts)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
  return figures;
}
