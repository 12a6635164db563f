import type { Connection } from '../../client/index.ts';

/** How the connection stands, in two or three words, and how much that should worry anybody. */
export interface ConnectionWords {
  text: string;
  tone: 'good' | 'busy' | 'bad';
  /** Whether pressing "Retry now" does anything. */
  canRetry: boolean;
}

/** From when on a connection that is only slow is said to be. */
export const SLOW_MS = 10_000;

/** @param now epoch ms by the device's clock, as in the connection */
export function connectionWords({ status, since, retryAt, transport, code }: Connection, now: number): ConnectionWords {
  const isSlow = now - since >= SLOW_MS;
  switch (status) {
    case 'live':
      return { text: transport === 'polling' ? 'Live, by asking' : 'Live', tone: 'good', canRetry: false };
    case 'idle':
    case 'connecting':
      return isSlow
        ? { text: 'Still connecting: no answer yet', tone: 'busy', canRetry: true }
        : { text: 'Connecting', tone: 'busy', canRetry: false };
    case 'catching-up':
      return isSlow
        ? { text: 'Catching up on much that happened', tone: 'busy', canRetry: false }
        : { text: 'Catching up', tone: 'busy', canRetry: false };
    case 'reconnecting':
      return { text: retryWords('Connection lost', retryAt, now), tone: 'bad', canRetry: true };
    case 'offline':
      return { text: 'Offline', tone: 'bad', canRetry: true };
    case 'refused':
      return { text: `Refused by the server${code === null ? '' : ` (${code})`}`, tone: 'bad', canRetry: false };
  }
}

/** `Connection lost, retrying in 3 s`; in its last second, and while it tries, `retrying`. */
export function retryWords(what: string, retryAt: number | null, now: number): string {
  const seconds = retryAt === null ? 0 : Math.ceil((retryAt - now) / 1000);
  return seconds > 0 ? `${what}, retrying in ${seconds} s` : `${what}, retrying`;
}
