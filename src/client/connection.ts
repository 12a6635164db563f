/**
 * How the events come, as honestly as it can be known:
 *
 * - `idle`: nobody asks for any.
 * - `connecting`: for the first time.
 * - `catching-up`: connected, and told what was missed.
 * - `live`: everything that is on disk has been told.
 * - `reconnecting`: lost, and tried again at `retryAt`.
 * - `offline`: the same, and the device says that it has no network.
 * - `refused`: the server will not have this client (`code`); it is not tried again.
 */
export type ConnectionStatus = 'idle' | 'connecting' | 'catching-up' | 'live' | 'reconnecting' | 'offline' | 'refused';

export interface Connection {
  status: ConnectionStatus;
  /** Since when it has this status, epoch ms by this device's clock. */
  since: number;
  /** When the next attempt begins, epoch ms; null unless one is put off. */
  retryAt: number | null;
  /** `polling`: something between here and the server holds streams back. */
  transport: 'streaming' | 'polling';
  /** Whether this tab holds the connection of all tabs, or hears of it from another that does. */
  role: 'alone' | 'leader' | 'follower';
  /** Why it was refused; null otherwise. */
  code: string | null;
}
