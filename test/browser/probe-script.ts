import {
  type Client,
  type Connection,
  type ConversationStore,
  type ConversationView,
  createClient,
  createConversationStore,
  type EventsQuery,
  type StreamItem,
} from '../../src/client/index.ts';

/** What a probe page does from its load on; it stands in the page's address, so that a reload does the same. */
export interface ProbeSetup {
  /** Follows events. */
  events?: EventsQuery;
  /** Keeps what it was told over a reload, with the cursor that belongs to it, and goes on from there. */
  keeps?: boolean;
  /** Shows a conversation. */
  conversationId?: string;
  /** As of the client's options. */
  share?: boolean;
  /** Shows tickets, each as `newTicket` gives it. */
  ticketed?: boolean;
}

/** An item of `events()`, and when it was told, in epoch ms. */
export interface Told {
  item: StreamItem;
  at: number;
}

/** All that a page with the client in it was told, in the order in which it was. */
export interface Probe {
  readonly client: Client;
  readonly told: Told[];
  readonly connections: Connection[];
  readonly store: ConversationStore | null;
  readonly views: ConversationView[];
  /** How the iteration ended: null while it goes on, `done`, or the code of what it threw. */
  ending: string | null;
  /** How many times the page was shown out of the cache of the back button. */
  returns: number;
  /** How many times the page was frozen. */
  freezes: number;
  /** When the device last said that it has a network again, epoch ms. */
  onlineAt: number;
  /** When it last said that it has none, epoch ms. */
  offlineAt: number;
  /** Errors that nobody caught. */
  readonly errors: string[];
  /** Settles when this is true; looked at whenever something has changed. */
  until(isTrue: () => boolean): Promise<void>;
}

declare global {
  interface Window {
    probe: Probe;
    /** Of the page's own server, which knows who looks at the page. */
    newTicket(): Promise<string>;
  }
}

const setup: ProbeSetup = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const waiting = new Set<() => void>();

function changed(): void {
  for (const look of [...waiting]) look();
}

const client = createClient({
  url: '',
  ...(setup.share !== undefined && { share: setup.share }),
  ...(setup.ticketed && { ticket: () => window.newTicket() }),
});
const store = setup.conversationId === undefined ? null : createConversationStore(client, setup.conversationId);
const probe: Probe = {
  client,
  told: kept(),
  connections: [client.connection.getSnapshot()],
  store,
  views: [],
  ending: null,
  returns: 0,
  freezes: 0,
  onlineAt: 0,
  offlineAt: 0,
  errors: [],
  until(isTrue) {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  },
};
window.probe = probe;

client.connection.subscribe(() => {
  probe.connections.push(client.connection.getSnapshot());
  changed();
});
store?.subscribe(() => {
  probe.views.push(store.getSnapshot());
  changed();
});
window.addEventListener('error', ({ message }) => probe.errors.push(message));
window.addEventListener('unhandledrejection', ({ reason }) => probe.errors.push(`${reason}`));
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) probe.returns += 1;
  changed();
});
document.addEventListener('freeze', () => {
  probe.freezes += 1;
});
window.addEventListener('online', () => {
  probe.onlineAt = now();
});
window.addEventListener('offline', () => {
  probe.offlineAt = now();
});
if (setup.events !== undefined) void follow(setup.events);

async function follow(query: EventsQuery): Promise<void> {
  const last = probe.told.at(-1)?.item.id;
  try {
    for await (const item of client.events(last === undefined ? query : { ...query, after: last })) {
      const told = { item, at: now() };
      probe.told.push(told);
      if (setup.keeps) sessionStorage.setItem(`${probe.told.length - 1}`, JSON.stringify(told));
      changed();
    }
    probe.ending = 'done';
  } catch (error) {
    probe.ending = error instanceof Error && 'code' in error ? `${error.code}` : `${error}`;
  }
  changed();
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function kept(): Told[] {
  const told: Told[] = [];
  for (let text = sessionStorage.getItem('0'); text !== null; text = sessionStorage.getItem(`${told.length}`)) {
    told.push(JSON.parse(text));
  }
  return told;
}
