import { createConnection, type Socket } from 'node:net';
import { ConnectionLost } from './failure.ts';

export const CONNECT_TIMEOUT_MS = 5_000;
/** Above it postgres.js would wait for an answer before it sends more. */
const GENEROUS = { noDelay: true, writableHighWaterMark: 64 * 1024 * 1024 };

/** Where a server listens. */
export type Place = { path: string } | { host: string; port: number };

/** A socket is made once: postgres.js would connect again, and go on with what belongs to a transaction that is gone. */
export function oneSocket(place: Place): { socket: () => Promise<Socket>; destroy: (whenClosed: () => void) => void } {
  let socket: Socket | undefined;
  return {
    socket() {
      if (socket !== undefined) return Promise.reject(new ConnectionLost('The connection to the database was closed.'));
      const made = createConnection({ ...place, ...GENEROUS });
      gatherWrites(made);
      socket = made;
      return new Promise<Socket>((resolve, reject) => {
        made.setTimeout(CONNECT_TIMEOUT_MS, () => made.destroy(new Error('No connection in time.')));
        made.once('error', reject);
        made.once('connect', () => {
          made.setTimeout(0);
          made.off('error', reject);
          resolve('host' in place ? Object.assign(made, place) : made);
        });
      });
    },
    destroy(whenClosed) {
      if (socket === undefined || socket.closed) return whenClosed();
      // Under TLS postgres.js writes a last word to what is above it: only once that is closed, too, it does not.
      socket.on('error', () => {});
      socket.once('close', () => setImmediate(whenClosed));
      socket.destroy();
    },
  };
}

/** What is written within a turn goes out at once, in one piece. */
function gatherWrites(socket: Socket): void {
  const write = socket.write.bind(socket);
  socket.write = ((...written: Parameters<typeof write>) => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return write(...written);
  }) as typeof socket.write;
}
