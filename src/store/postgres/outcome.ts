import type { Event } from '../../model/event.ts';
import { SERVER } from './epoch.ts';
import { toText } from './escape.ts';
import type { Link } from './link.ts';
import type { Loaded } from './load.ts';
import { statement } from './statement.ts';

/** A transaction whose COMMIT may have been sent: what it can be known again by. */
export interface Sent {
  owner: string;
  loaded: Pick<Loaded, 'log' | 'instant'>;
  /** What it has left in its owner's log, if it was committed and none has come after it. */
  mark: number;
  /** What it has written, in their order. */
  events: readonly Event[];
}

/** `unknown`: others have written since, and nothing tells what became of this. */
export type Verdict = 'committed' | 'aborted' | 'underway' | 'unknown';

const STATUS = statement<{ status: 'committed' | 'aborted' | 'in progress' | null }>(
  // Numbers of transactions that were lost with their server are given again.
  `select case when ${SERVER} = $2 then pg_xact_status($1::text::xid8) end as status`,
);
/** Whose connection is gone without that the server has heard of it waits for a COMMIT that will never come. */
const END_IDLE = statement(
  `select pg_terminate_backend(pid) from pg_stat_activity
    where backend_xid::text::bigint = $1::bigint % 4294967296 and state like 'idle in transaction%'
      and datname = current_database() and usename = current_user`,
);
const LOG = statement<{ id: number; head: number; batch: number }>(
  'select id, head, batch from holdfast.log where owner = $1',
);
const EVENTS = statement<Pick<Event, 'seq' | 'at' | 'type' | 'data'>>(
  'select seq, at, type, data from holdfast.event where log = $1 and seq between $2 and $3 order by seq',
);

/** Finds out what became of a transaction whose connection was lost. */
export async function lookUp(link: Link, sent: Sent): Promise<Verdict> {
  const { xid, server } = sent.loaded.instant;
  const [answer] = await link.ask(STATUS, String(xid), server);
  switch (answer?.status) {
    case 'committed':
    case 'aborted':
      return answer.status;
    case 'in progress':
      await link.ask(END_IDLE, xid);
      return 'underway';
    default:
      return judgeByContent(link, sent);
  }
}

/** The server has been started since, or is another: what it has stored tells more than what it remembers. */
async function judgeByContent(link: Link, { owner, loaded, mark, events }: Sent): Promise<Verdict> {
  const before = loaded.log;
  const [log] = await link.ask(LOG, toText(owner));
  if (log === undefined || log.batch === before.batch || log.head < before.head) return 'aborted';
  if (log.batch === mark) return 'committed';
  if (events.length === 0) return 'unknown';
  const from = before.head + 1;
  const stored = await link.ask(EVENTS, log.id, from, before.head + events.length);
  const isSame = (event: Event, index: number) => {
    const other = stored[index];
    return other?.at === event.at && other.type === event.type && other.data === event.data;
  };
  return events.every(isSame) ? 'committed' : 'aborted';
}
