import type { Change } from './failpoint-copy.ts';
import type { MakeNemesis } from './nemesis.ts';
import { passEvents } from './pass-events.ts';

const MOST_EVENTS = 150;
const MOST_MS = 4000;

/**
 * Gives what runs no time to come to rest, in a copy of the code: all of it has to be given back, and go on. As it is shipped,
 * the steps of these agents, which are short, have all ended before the process does.
 */
export const HASTY: readonly Change[] = [
  { file: 'src/server.ts', from: 'const DRAIN_MS = 3000;', to: 'const DRAIN_MS = 0;' },
  { file: 'src/cli/serve.ts', from: '{ SIGTERM: 500, SIGINT: 0 }', to: '{ SIGTERM: 0, SIGINT: 0 }' },
  { file: 'src/http/open-streams.ts', from: 'const SPREAD_MS = 2000;', to: 'const SPREAD_MS = 0;' },
];

/** Stops the server by SIGTERM under load, and starts the next one in its place; so many times. */
export function rolling(restarts: number): MakeNemesis {
  return ({ dice }) => ({
    async run(server, until) {
      for (let n = 0; n < restarts && !until.aborted; n++) {
        await passEvents(server.url, 20 + dice.below(MOST_EVENTS), MOST_MS, until);
        await server.stop();
        await server.start();
      }
    },
  });
}
