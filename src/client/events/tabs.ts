import type { Channel, Environment } from '../environment.ts';
import type { Report } from './connection-board.ts';
import type { Frame } from './frame.ts';

/** What tabs tell each other. The first three come from the one that holds the connection. */
export type TabMessage =
  | { type: 'frame'; frame: Frame }
  | { type: 'state'; report: Report; position: string | null }
  | { type: 'refused'; code: string; message: string; status: number | null }
  /** Is anybody there? */
  | { type: 'ping' };

export interface TabsOptions {
  tabs: NonNullable<Environment['tabs']>;
  /** Equal for all tabs that share. */
  name: string;
  /** Holds the connection until the signal is aborted. */
  lead(signal: AbortSignal): void;
  onMessage(message: TabMessage): void;
}

/** This tab among those of its browser. */
export interface Membership {
  post(message: TabMessage): void;
  leave(): void;
}

const PING_MS = 1000;
/** So many in a row without a word, and the leader is frozen, or hangs. A closed one has let go of its lock. */
const PATIENCE = 3;

/**
 * Joins the tabs that share a name. One of them leads: whoever holds the lock of that name. It passes to the next when the
 * leader leaves or is closed, and is taken from one that does not answer; that one learns of it when it wakes up, and
 * until then two may lead, which the frames' places make harmless.
 */
export function joinTabs({ tabs, name, lead, onMessage }: TabsOptions): Membership {
  const channel: Channel = tabs.openChannel(name);
  let hasLeft = false;
  /** Ends the present waiting for the lock, or the holding of it. */
  let turn = new AbortController();
  let isLeader = false;
  let unanswered = 0;
  const post = (message: TabMessage) => {
    if (!hasLeft) channel.postMessage(message);
  };

  async function contend(): Promise<void> {
    let steal = false;
    while (!hasLeft) {
      const own = new AbortController();
      turn = own;
      const options: { signal?: AbortSignal; steal?: boolean } = steal ? { steal } : { signal: own.signal };
      const outcome: string = await tabs.locks
        .request(name, options, () => hold(own.signal))
        .then(
          () => 'ended',
          (error: Error) => error.name,
        );
      // The lock is gone, also when it was taken away.
      own.abort();
      isLeader = false;
      steal = outcome === 'AbortError' && unanswered >= PATIENCE;
      unanswered = 0;
      // Without locks there is nobody to share with.
      if (outcome !== 'ended' && outcome !== 'AbortError') await hold(turnOf());
    }
  }

  function turnOf(): AbortSignal {
    turn = new AbortController();
    return turn.signal;
  }

  function hold(signal: AbortSignal): Promise<void> {
    if (hasLeft) return Promise.resolve();
    isLeader = true;
    lead(signal);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  }

  const pings = setInterval(() => {
    if (isLeader) return;
    if (unanswered >= PATIENCE) turn.abort();
    else unanswered += 1;
    post({ type: 'ping' });
  }, PING_MS);

  channel.onmessage = ({ data }) => {
    const message = data as TabMessage;
    if (message.type !== 'ping') unanswered = 0;
    onMessage(message);
  };
  post({ type: 'ping' });
  void contend();

  return {
    post,
    leave() {
      hasLeft = true;
      clearInterval(pings);
      turn.abort();
      channel.close();
    },
  };
}
