import { FAILPOINTS, type Failpoint } from '../../src/failpoint.ts';
import { failpointEnv } from './failpoint-env.ts';
import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';

/** They are passed by a server that is told to stop, which must end with 0. */
const AT_THE_STOP: readonly Failpoint[] = [
  'drain-begun',
  'drained-not-given-back',
  'given-back-not-closed',
  'closed-not-checkpointed',
];
const POINTS = (Object.keys(FAILPOINTS) as Failpoint[]).filter((point) => !AT_THE_STOP.includes(point));
const LIVES = 4;
/** A point that a life has not passed by then is not passed by any load of this kind. */
const PATIENCE_MS = 3000;
const MOST_PASSINGS = 20;

/** Lets each life of the server die at another point of its code, one of the first few times that it passes there. */
export const failpoints: MakeNemesis = ({ dice }) => {
  let isOver = false;
  return {
    boot() {
      if (isOver) return {};
      const passing = 1 + dice.below(dice.below(MOST_PASSINGS) + 1);
      return { env: failpointEnv(dice.pick(POINTS), passing), mayEndItself: true };
    },
    async run(server, until) {
      for (let lives = LIVES; lives > 0 && !until.aborted; lives--) {
        if (server.isUp) await Promise.race([server.ended, pass(PATIENCE_MS, until)]);
        await server.kill();
        await server.start();
      }
      isOver = true;
      await server.kill();
      await server.start();
    },
  };
};
