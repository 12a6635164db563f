import { createOpenLink } from './connection.ts';
import { NOW_MS } from './database-clock.ts';
import { fromText } from './escape.ts';
import type { Link } from './link.ts';
import { countPending } from './migrate.ts';
import { loadPostgres } from './postgres-module.ts';
import { asStartRefusal, databaseName } from './start-refusal.ts';
import { statement } from './statement.ts';

/** All owners are looked at, of whom there may be many. */
const STATEMENT_MS = 10 * 60_000;
/** More would say nothing more. */
const MOST_DAMAGE = 20;

export interface Inspected {
  /** `host:port` and name. */
  name: string;
  /** As PostgreSQL writes it. */
  version: string;
  /** Migrations that the next server to start will run; null where there are no tables yet, and all below is empty. */
  pending: number | null;
  /** What is wrong, a line each; none when nothing was found. */
  damage: string[];
  /** How the server is set up so that an acknowledged commit could be lost, a line each. */
  unsafe: string[];
  /** Null where no server has ever started. */
  epoch: string | null;
  /** Those that live first. Ages are in ms: how long the lease lasts, or ago it has died; null for one that is neither. */
  nodes: { id: string; leaseMs: number | null; deadMs: number | null; held: number }[];
  owners: number;
  /** By status. */
  tasks: ReadonlyMap<string, number>;
  pendingQuestions: number;
  /** As PostgreSQL estimates it. */
  events: number;
  bytes: number;
}

/**
 * Looks at a database that servers may be using, and changes nothing.
 *
 * @throws StartRefusal when it cannot be reached, or holds something else
 */
export async function inspectDatabase(url: string): Promise<Inspected> {
  const postgres = await loadPostgres();
  try {
    const link = await createOpenLink(postgres, { url, statementTimeoutMs: STATEMENT_MS })();
    try {
      return await inspectOver(link, url);
    } finally {
      link.close();
    }
  } catch (error) {
    throw asStartRefusal(error, url);
  }
}

const SERVER = statement<{ version: string; fsync: string; pages: string }>(
  `select current_setting('server_version') as version, current_setting('fsync') as fsync,
    current_setting('full_page_writes') as pages`,
);
const EPOCH = statement<{ current: string }>('select current from holdfast.epoch');
const NODES = statement<Inspected['nodes'][number]>(
  `select id, case when dead_at is null and expires_at > now then expires_at - now end as "leaseMs", now - dead_at as "deadMs",
      (select count(*) from holdfast.task where held and task.node = node.id) as held
    from holdfast.node, (select ${NOW_MS} as now) as clock
    order by dead_at desc nulls first, expires_at desc limit 100`,
);
const SIZE = statement<{ owners: number; questions: number; events: number; bytes: number }>(
  `select count(*) as owners, coalesce(sum(pending_questions), 0)::bigint as questions,
      (select greatest(reltuples, 0)::bigint from pg_class where oid = 'holdfast.event'::regclass) as events,
      (select sum(pg_total_relation_size(oid))::bigint from pg_class
        where relnamespace = 'holdfast'::regnamespace and relkind = 'r') as bytes
    from holdfast.log`,
);
const TASKS = statement<{ status: string; count: number }>(
  'select status, count(*) as count from holdfast.task group by status order by status',
);
/** What the transactions of every commit keep true, and what a cursor's epoch is judged by. */
const DAMAGE = statement<{ owner: string; damage: string }>(
  `select owner, case
      when last > head then 'has an event ' || last || ' above its head ' || head
      when newest is distinct from epoch then 'has the epoch ' || coalesce(epoch, 'none') || ', and not its newest'
      else 'has its newest epoch begin at ' || first || ', above its head ' || head end as damage
    from holdfast.log
      left join lateral (select seq as last from holdfast.event where event.log = log.id order by seq desc limit 1) as e on true
      left join lateral (select epoch as newest, first_seq as first from holdfast.log_epoch
        where log_epoch.log = log.id order by first_seq desc limit 1) as n on true
    where last > head or newest is distinct from epoch or first > head
    limit ${MOST_DAMAGE}`,
);

async function inspectOver(link: Link, url: string): Promise<Inspected> {
  await link.begin('isolation level repeatable read, read only');
  const [server] = await link.ask(SERVER);
  const unsafe = [
    ...(server?.fsync === 'off'
      ? ['fsync is off: a power cut loses what was acknowledged, or the whole database']
      : []),
    ...(server?.pages === 'off' ? ['full_page_writes is off: a power cut can break the database'] : []),
  ];
  const about = { name: databaseName(url), version: server?.version ?? '', unsafe };
  const pending = await countPending(link, url);
  if (pending !== 0) return { ...about, ...NOTHING, pending };
  const [epochs, nodes, sizes, tasks, damage] = await Promise.all([
    link.ask(EPOCH),
    link.ask(NODES),
    link.ask(SIZE),
    link.ask(TASKS),
    link.ask(DAMAGE),
  ]);
  return {
    ...about,
    pending,
    damage: damage.map(({ owner, damage }) => `The log of ${fromText(owner)} ${damage}.`),
    epoch: epochs[0]?.current ?? null,
    nodes: [...nodes],
    owners: sizes[0]?.owners ?? 0,
    tasks: new Map(tasks.map(({ status, count }) => [status, count])),
    pendingQuestions: sizes[0]?.questions ?? 0,
    events: sizes[0]?.events ?? 0,
    bytes: sizes[0]?.bytes ?? 0,
  };
}

/** Of tables that are not those of this version nothing can be said. */
const NOTHING = {
  damage: [],
  epoch: null,
  nodes: [],
  owners: 0,
  tasks: new Map(),
  pendingQuestions: 0,
  events: 0,
  bytes: 0,
};
