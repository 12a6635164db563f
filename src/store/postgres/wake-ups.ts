import { randomBytes } from 'node:crypto';
import type { Link } from './link.ts';
import type { Links } from './links.ts';
import { type ListenOptions, listen } from './listen.ts';
import { createNotify } from './notify.ts';
import type { OwnerMarks } from './owner-marks.ts';
import { statement } from './statement.ts';
import { CHANNEL, formatWakeUp, parseWakeUp } from './wake-up.ts';

export interface WakeUpsOptions {
  /** By which others are told. */
  links: Links;
  /** Opens the connection by which this process is told. */
  open(onNotify: (channel: string, payload: string) => void): Promise<Link>;
  marks: OwnerMarks;
  /** As `StoreWatcher.onForeign`. */
  onForeign(owners: ReadonlySet<string> | null): void;
  /** Told once when nothing can be heard any more, so that what others write is found by polling alone. */
  onTrouble(cause: Error): void;
  times?: ListenOptions['times'];
}

/** What goes to and fro between the nodes, so that none has to wait until it looks. */
export interface WakeUps {
  /** An owner's commit has gone through: the others are told soon, and in a transaction of its own. */
  committed(owner: string): void;
  /** How many wake-ups could not be sent. */
  readonly failures: number;
  /** Hears nothing more, and has told what there was to tell. */
  stop(): Promise<void>;
}

const NOTIFY = statement(`select pg_notify('${CHANNEL}', $1)`);
const SENDER_BYTES = 6;

/** Begins at once. Nothing depends on any of it. */
export function startWakeUps({ links, open, marks, onForeign, onTrouble, times }: WakeUpsOptions): WakeUps {
  const sender = randomBytes(SENDER_BYTES).toString('base64url');
  const notify = createNotify(sender, marks, (payload) => links.use((link) => link.ask(NOTIFY, payload)));
  const own = formatWakeUp({ sender, marks: [] });
  const listening = listen({
    open: (onPayload) => open((channel, payload) => (channel === CHANNEL ? onPayload(payload) : undefined)),
    probe: notify.probe,
    isOwn: (payload) => payload.startsWith(own),
    onPayload(payload) {
      const told = parseWakeUp(payload).marks;
      if (told === null) onForeign(null);
      else if (told.length > 0) onForeign(new Set(told.flatMap((mark) => marks.owner(mark) ?? [])));
    },
    onListening: () => onForeign(null),
    onTrouble,
    ...(times && { times }),
  });
  return {
    committed: notify.committed,
    get failures() {
      return notify.failures;
    },
    async stop() {
      listening.stop();
      await notify.flush();
    },
  };
}

/** Tells nobody and hears nobody. */
export function silentWakeUps(): WakeUps {
  return { committed() {}, failures: 0, async stop() {} };
}
