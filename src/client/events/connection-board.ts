import type { Connection, ConnectionStatus } from '../connection.ts';
import { createStore, type ExternalStore } from '../external-store.ts';

/** What one of the streams of a client has to say of itself. */
export type Report = Pick<Connection, 'status'> & Partial<Omit<Connection, 'status' | 'since'>>;

/** Where one stream reports. */
export interface Reporter {
  report(report: Report): void;
  /** It is no more. That it was refused is shown until somebody tries again. */
  close(): void;
}

/** What all streams of a client come to: the one that is worst off decides. */
export interface ConnectionBoard {
  readonly connection: ExternalStore<Connection>;
  open(): Reporter;
}

/** The worst first. That one of them was refused says nothing of the others. */
const ORDER: readonly ConnectionStatus[] = [
  'offline',
  'reconnecting',
  'connecting',
  'catching-up',
  'live',
  'refused',
  'idle',
];
const IDLE: Connection = {
  ...{ status: 'idle', retryAt: null, transport: 'streaming', role: 'alone', code: null },
  since: 0,
};

export function createConnectionBoard(): ConnectionBoard {
  const reports = new Map<object, Report>();
  const closed = new WeakSet<object>();
  const store = createStore<Connection>({ ...IDLE, since: Date.now() });

  function update(): void {
    const all = [...reports.values()].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
    // What reads pages beside the shared stream has neither transport nor role of its own.
    const main = all.find(({ role }) => role !== undefined);
    const now = { ...IDLE, ...main, retryAt: null, code: null, ...all[0] };
    const before = store.getSnapshot();
    const next = { ...now, since: now.status === before.status ? before.since : Date.now() };
    const keys = Object.keys(next) as (keyof Connection)[];
    if (keys.some((key) => next[key] !== before[key])) store.set(next);
  }

  return {
    connection: store,
    open() {
      const key = {};
      for (const [other, { status }] of reports) if (status === 'refused' && closed.has(other)) reports.delete(other);
      return {
        report(report) {
          reports.set(key, report);
          update();
        },
        close() {
          closed.add(key);
          if (reports.get(key)?.status !== 'refused') reports.delete(key);
          update();
        },
      };
    },
  };
}
