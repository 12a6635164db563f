import { calm } from './calm.ts';
import { diskFull } from './disk-full-nemesis.ts';
import { failpoints } from './failpoint-nemesis.ts';
import { killStorm } from './kill-storm.ts';
import type { MakeNemesis } from './nemesis.ts';
import { failingSync, lyingDisk, powerCut } from './power-cut-nemesis.ts';

/** What `--nemesis` takes. */
export const NEMESES: { readonly [name: string]: MakeNemesis } = {
  calm,
  'kill-storm': killStorm,
  failpoints,
  'power-cut': powerCut,
  'lying-disk': lyingDisk,
  'failing-sync': failingSync,
  'disk-full': diskFull,
};
