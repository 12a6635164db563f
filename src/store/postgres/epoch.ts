import { randomBytes } from 'node:crypto';
import { formatEpoch } from '../../model/epoch.ts';
import { NOW_MS } from './database-clock.ts';
import type { Link } from './link.ts';
import { statement } from './statement.ts';

/** Another server may be at the end of the same address: its log of changes has branched off, or it has been started anew. */
const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';
const STARTED_AT = 'extract(epoch from pg_postmaster_start_time())::text';
const XID = 'pg_current_xact_id()::text::bigint';
const VALUES = `1, $1, ${TIMELINE}, ${STARTED_AT}, ${XID}`;
const REPLACED = `current = excluded.current, timeline = excluded.timeline, started_at = excluded.started_at, xid = excluded.xid`;

/** What a transaction is told once it has its lock. */
export interface Instant {
  /** Epoch ms by the database's clock. */
  now: number;
  /** The transaction's number. */
  xid: number;
  /** Tells the server apart from any other that there has been at this address, and from itself before its last start. */
  server: string;
  /** The epoch under which logs are written; null where there is none, which is only in a database half restored. */
  epoch: string | null;
  /** Whether the epoch was made in this very database since its server was started. */
  isOurs: boolean;
}

/** Names the server, as {@link Instant.server}. */
export const SERVER = `${TIMELINE} || ' ' || ${STARTED_AT}`;

/** Numbers of transactions are stored in full; a row carries the lower half of the one that wrote it. */
export const INSTANT = statement<Instant>(
  `select ${NOW_MS} as now, ${XID} as xid, server.timeline || ' ' || server.started_at as server, epoch.current as epoch,
      coalesce(epoch.timeline = server.timeline and epoch.started_at = server.started_at
        and epoch.xmin::text::bigint = epoch.xid % 4294967296, false) as "isOurs"
    from (select ${TIMELINE} as timeline, ${STARTED_AT} as started_at offset 0) as server
      left join holdfast.epoch on epoch.id = 1`,
);

const START = statement<{ current: string }>(
  `insert into holdfast.epoch (id, current, timeline, started_at, xid) values (${VALUES})
    on conflict (id) do update set ${REPLACED} returning current`,
);
/** Where another transaction was quicker it changes nothing. */
const REPLACE = statement(
  `insert into holdfast.epoch (id, current, timeline, started_at, xid) values (${VALUES})
    on conflict (id) do update set ${REPLACED} where epoch.current = $2`,
);

/** Begins a new epoch, as each process does at its start. @returns its name */
export async function startEpoch(link: Link): Promise<string> {
  const name = formatEpoch(randomBytes(8));
  await link.ask(START, name);
  return name;
}

/**
 * Begins a new epoch because the one that was read is of another database than this: an older copy of it, or one that has
 * gone on without what was lost. It belongs to the transaction, which must read it again.
 */
export async function replaceEpoch(link: Link, { epoch }: Instant): Promise<void> {
  await link.ask(REPLACE, formatEpoch(randomBytes(8)), epoch);
}
