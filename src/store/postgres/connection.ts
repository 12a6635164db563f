import type { Socket } from 'node:net';
import type { Options, PostgresType, Sql } from 'postgres';
import { ConnectionLost } from './failure.ts';
import { createLink, type Link } from './link.ts';
import { CONNECT_TIMEOUT_MS, oneSocket, type Place } from './one-socket.ts';
import { PARAMETERS } from './parameters.ts';
import type { Postgres } from './postgres-module.ts';
import { statement } from './statement.ts';

/** How connections are used. Times are in ms. */
export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`, with several hosts by commas and `?sslmode=` and `?prepare=false` as in postgres.js. */
  url: string;
  /** What PostgreSQL is told at the start of a connection, or of each transaction: `name: value`. */
  settings?: Readonly<Record<string, string>>;
  /** So long may a statement take. */
  statementTimeoutMs: number;
  /** Told of each notification that comes on a channel to which a connection listens. */
  onNotify?: (channel: string, payload: string) => void;
}

/** A machine that vanished is noticed by the server within half a minute, and what it held is let go. */
const KEEPALIVES: [name: string, value: string][] = [
  ['tcp_keepalives_idle', '10'],
  ['tcp_keepalives_interval', '5'],
  ['tcp_keepalives_count', '3'],
  ['tcp_user_timeout', '20000'],
];

/** Some that its types leave out. */
type ClientOptions = Options<Record<string, PostgresType>> & { socket: () => Promise<Socket>; max_pipeline: number };

/** A server that is there says so itself when a statement has taken too long. */
const MORE_PATIENCE_MS = 2_000;
/** A transaction in which nothing is asked any more holds an owner's lock: its process has been stopped, or is gone. */
const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * Prepares the opening of connections to a server that can be written to. Each of several hosts is tried in turn, beginning
 * with the one that was good last.
 *
 * @throws ConnectionLost from the opening, when none of them can be reached or all of them are standbys
 */
export function createOpenLink(postgres: Postgres, options: ConnectionOptions): () => Promise<Link> {
  // Only parses: nothing is connected.
  const { host, port, path } = postgres(options.url, { max: 1 }).options;
  const places = path ? [{ path }] : host.map((name, index) => ({ host: name, port: port[index] ?? 5432 }));
  let good = 0;
  return async () => {
    let failure: unknown;
    for (let tried = 0; tried < places.length; tried += 1) {
      const place = places[good] as (typeof places)[number];
      try {
        return await openLinkTo(postgres, options, place);
      } catch (error) {
        failure = error;
        good = (good + 1) % places.length;
      }
    }
    throw failure;
  };
}

/** What a new connection is asked. */
const WHO = statement<{ pid: number; standby: boolean; readonly: string }>(
  `select pg_backend_pid() as pid, pg_is_in_recovery() as standby, current_setting('transaction_read_only') as readonly`,
);

async function openLinkTo(postgres: Postgres, options: ConnectionOptions, place: Place): Promise<Link> {
  const { url, statementTimeoutMs } = options;
  const patienceMs = statementTimeoutMs + MORE_PATIENCE_MS;
  let closed = () => {};
  const { socket, destroy } = oneSocket(place);
  const sql: Sql = postgres(url, {
    ...('path' in place ? { path: place.path } : place),
    max: 1,
    max_pipeline: 1000,
    fetch_types: false,
    max_lifetime: null,
    connect_timeout: CONNECT_TIMEOUT_MS / 1000,
    types: PARAMETERS,
    connection: { application_name: 'holdfast' },
    onnotice() {},
    onclose: () => closed(),
    ...(options.onNotify && { onnotify: options.onNotify }),
    socket,
  } as ClientOptions);
  const disconnect = () => {
    // What still waits in its queue is told so.
    destroy(() => sql.end({ timeout: 0 }).catch(() => {}));
  };
  const first = createLink(sql, disconnect, { prepare: false, settings: '', patienceMs: CONNECT_TIMEOUT_MS });
  closed = first.onClosed;
  try {
    const answer = await first.ask(WHO);
    const who = answer[0];
    if (who === undefined || who.standby || who.readonly === 'on')
      throw new ConnectionLost('The database is a standby.');
    // A pooler has given a number of its own.
    const pooled = pidOf(answer) !== who.pid;
    const settings = settingsOf(options);
    const lasting = [...KEEPALIVES, ...settings];
    if (!pooled) await first.ask(statement(`select ${lasting.map((set) => setConfig(set, false)).join(', ')}`));
    const link = createLink(sql, disconnect, {
      prepare: preparesIn(url) ?? !pooled,
      settings: pooled ? `select ${settings.map((set) => setConfig(set, true)).join(', ')}` : '',
      patienceMs,
    });
    closed = link.onClosed;
    return link;
  } catch (error) {
    first.close();
    throw error instanceof ConnectionLost ? error : new ConnectionLost(messageOf(error), error);
  }
}

function settingsOf({ settings = {}, statementTimeoutMs }: ConnectionOptions): [name: string, value: string][] {
  return Object.entries({
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    // Compiling takes longer than any of the statements.
    jit: 'off',
    ...settings,
  });
}

function setConfig([name, value]: [name: string, value: string], local: boolean): string {
  return `set_config('${name}', '${value}', ${local})`;
}

/** The number of the server's process as the connection was told at its start. */
function pidOf(answer: unknown): number | null {
  return (answer as { state?: { pid: number } }).state?.pid ?? null;
}

function preparesIn(url: string): boolean | null {
  const wish = /[?&]prepare=(\w+)/.exec(url)?.[1];
  return wish === undefined ? null : wish !== 'false';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
