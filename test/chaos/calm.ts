import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';

const CALM_MS = 2000;

/** Does nothing: a control, in which every rule holds of any server that works at all. */
export const calm: MakeNemesis = () => ({ run: (_server, until) => pass(CALM_MS, until) });
