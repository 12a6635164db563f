import type { Dice } from '../support/dice.ts';
import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';
import { passEvents } from './pass-events.ts';

const LEAST_MS = 50;
const MOST_MS = 3000;
const MOST_EVENTS = 250;
/** A start that is killed is killed within this time, mostly before it serves. */
const BOOT_MS = 1200;

/**
 * Kills the server again and again and starts it anew: mostly soon after it serves, or when it has written so much,
 * which does not hang on how fast the machine is; now and then before it serves.
 */
export const killStorm: MakeNemesis = ({ dice }) => ({
  async run(server, until) {
    for (let kills = 2 + dice.below(2); kills > 0 && !until.aborted; kills--) {
      await (dice.below(2) === 0
        ? pass(msOf(dice), until)
        : passEvents(server.url, dice.below(MOST_EVENTS), MOST_MS, until));
      if (dice.below(8) === 0) await server.stop();
      else await server.kill();
      if (dice.below(8) === 0) {
        const starting = server.start();
        await pass(dice.below(BOOT_MS), until);
        await server.kill();
        await starting;
      }
      await server.start();
    }
  },
});

/** Short ones are more likely. */
function msOf(dice: Dice): number {
  return LEAST_MS + (MOST_MS - LEAST_MS) * (dice.below(1000) / 1000) ** 4;
}
