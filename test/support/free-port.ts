import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { type Dice, diceOf } from './dice.ts';

/** Below the ports that connections are given: one of them could take it while the server is down. */
const FIRST_PORT = 12_000;
const PORTS = 20_000;

/** A port that nobody listens on, for a server that is to come back to it. */
export async function freePort(dice: Dice = diceOf(randomInt(2 ** 31))): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + dice.below(PORTS);
    const server = net.createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    const isFree = await listening;
    server.close();
    if (isFree) return port;
  }
}
