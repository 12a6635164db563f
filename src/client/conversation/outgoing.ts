import type { Message } from '../../model/event.ts';
import type { Client, NewMessage } from '../client.ts';
import { HoldfastError } from '../error.ts';
import { newIdempotencyKey } from '../requests/idempotency-key.ts';
import type { OutgoingEntry } from './conversation-view.ts';

/** The messages of this page that the server has not accepted, or that nobody knows of whether it has. */
export interface Outgoing {
  /** In the order in which they were sent; another array after each change. */
  entries(): readonly OutgoingEntry[];
  send(message: NewMessage): Promise<void>;
  discard(key: string): void;
  /**
   * Takes out the entry that a message was, as far as one can tell before the answer comes.
   *
   * @returns its key; null when it is nobody's here
   */
  adopt(message: Message): string | null;
}

/**
 * @param onAccepted with the key of its entry; null when that was adopted before
 * @param onRefused called when an entry is refused
 */
export function createOutgoing(
  send: (message: NewMessage, idempotencyKey: string) => ReturnType<Client['conversations']['send']>,
  onAccepted: (message: Message, key: string | null) => void,
  onRefused: () => void,
): Outgoing {
  let entries: readonly OutgoingEntry[] = [];
  /** A message is not sent before the one before it has arrived, or was refused: they would change places. */
  let line: Promise<unknown> = Promise.resolve();

  function take(isWanted: (entry: OutgoingEntry) => boolean): string | null {
    const taken = entries.find(isWanted);
    if (taken === undefined) return null;
    entries = entries.filter((entry) => entry !== taken);
    return taken.key;
  }

  function put(entry: OutgoingEntry): void {
    const isThere = entries.some(({ key }) => key === entry.key);
    entries = isThere ? entries.map((each) => (each.key === entry.key ? entry : each)) : [...entries, entry];
  }

  return {
    entries: () => entries,
    async send(message) {
      const key = newIdempotencyKey();
      const { content } = message;
      put({ kind: 'outgoing', key, content, status: 'sending', error: null });
      try {
        const sending = line.then(() => send(message, key));
        line = sending.catch(() => {});
        const { message: accepted } = await sending;
        onAccepted(
          accepted,
          take((entry) => entry.key === key),
        );
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        const { code, message: text } = error;
        // Nobody has refused it: the client was closed.
        if (code === 'aborted') return;
        // Its key may be that of a message which somebody else wrote in the same words.
        const isHere = entries.some((entry) => entry.key === key);
        const refusedKey = isHere ? key : newIdempotencyKey();
        put({ kind: 'outgoing', key: refusedKey, content, status: 'refused', error: { code, message: text } });
        onRefused();
      }
    },
    discard(key) {
      take((entry) => entry.key === key && entry.status === 'refused');
    },
    adopt: ({ role, content }) =>
      role === 'user' ? take((entry) => entry.status === 'sending' && entry.content === content) : null,
  };
}
