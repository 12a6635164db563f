import type { Event } from '../../model/event.ts';
import type { Queries, Scope } from '../store.ts';
import type { Ask } from './ask.ts';
import { toText } from './escape.ts';
import { type Statement, statement } from './statement.ts';

const MAX_ROWS = 200;
/** Of data. */
const MAX_BYTES = 256 * 1024;
const MAX_SEQS = 5_000;
/** What stands for the task of an event that has none. */
const NO_TASK = 0;

/** Of a deleted conversation only the deletion is told. Mostly there is none whose rows are still here. */
const SHOWN = `(e.conversation is null or e.type = 'conversation.deleted' or e.conversation not in
  (select key from holdfast.conversation where deleted_at is not null and not purged))`;

/** The parameters before those are the owner, and the page's `after`, `upTo` and most rows. */
const PLACES: Record<Scope['kind'], string> = {
  log: 'e.log = (select log from place)',
  root: `e.root = ${keyOf('task', '$5')}`,
  conversation: `e.conversation = ${keyOf('conversation', '$5')}`,
  child: `e.root = ${keyOf('task', '$5')} and e.task = ${keyOf('task', '$6')}`,
};

/** Nothing but `until` where no event was found. `found` counts all of the page, of which only the first bytes come. */
interface Row {
  until: number;
  found: number | null;
  seq: number;
  taskId: string | null;
  rootId: string | null;
  conversationId: string | null;
  type: string;
  step: string | null;
  data: string;
  at: number;
}

const STATEMENTS = {
  log: both(PLACES.log, 5, MAX_SEQS),
  root: both(PLACES.root, 6, null),
  conversation: both(PLACES.conversation, 6, null),
  child: both(PLACES.child, 7, MAX_SEQS),
};

/** The reading of pages of events, each in one statement. */
export function createReadEvents(ask: Ask): Queries['readEvents'] {
  return async (owner, { scope, after, upTo, unfinishedAt, limit }) => {
    const { all, unfinished } = STATEMENTS[scope.kind];
    const maxRows = Math.min(limit, MAX_ROWS);
    const page = [toText(owner), after, upTo, maxRows, ...idsOf(scope)] as const;
    const rows = await (unfinishedAt === null ? ask(all, ...page) : ask(unfinished, ...page, unfinishedAt));
    const { until = after, found = null } = rows[0] ?? {};
    if (found === null) return { events: [], scannedTo: Math.max(after, until) };
    const events = rows.map(toEvent);
    const isWhole = events.length === found && found < maxRows;
    return { events, scannedTo: isWhole ? Math.max(after, until) : (events.at(-1)?.seq ?? after) };
  };
}

/**
 * @param next the number of the parameter for `unfinishedAt`
 * @param maxSeqs how far a page may look
 */
function both(
  place: string,
  next: number,
  maxSeqs: number | null,
): { all: Statement<Row>; unfinished: Statement<Row> } {
  // A root's newest event is its end, once it has ended. As a value, so that it is looked up and never joined with all.
  const unfinished = `(select r.finished_at is null or r.last_seq > $${next} from holdfast.task r where r.key = e.root)`;
  return { all: pageOf(place, maxSeqs), unfinished: pageOf(`${place} and ${unfinished}`, maxSeqs) };
}

/** Data is weighed before any of it is read. The names behind the keys are looked up for what comes. */
function pageOf(where: string, maxSeqs: number | null): Statement<Row> {
  const end = maxSeqs === null ? '$3::bigint, head' : `$3::bigint, head, $2::bigint + ${maxSeqs}`;
  return statement(`with place as materialized (
      select id as log, least(${end}) as until from holdfast.log where owner = $1
    ), page as (
      select e.seq, e.task, e.conversation, e.type, e.at, e.step, e.data from holdfast.event e
        where ${where} and e.seq > $2 and e.seq <= (select until from place) and ${SHOWN} order by e.seq limit $4
    ), weighed as (
      select page.*, sum(octet_length(data)) over (order by seq rows unbounded preceding) as bytes, count(*) over () as found
        from page
    )
    select place.until, e.found, e.seq, task.id as "taskId", task.root_id as "rootId",
        coalesce(task.conversation_id, conversation.id) as "conversationId", e.type, e.step, e.data, e.at
      from place left join weighed e on e.bytes <= ${MAX_BYTES} or e.bytes = octet_length(e.data)
        left join holdfast.task on task.key = e.task
        left join holdfast.conversation on conversation.key = e.conversation and e.task = ${NO_TASK}
      order by e.seq`);
}

function toEvent({ seq, taskId, rootId, conversationId, type, step, data, at }: Row): Event {
  return { taskId, conversationId, type, step, data, seq, at, rootId };
}

function idsOf(scope: Scope): string[] {
  switch (scope.kind) {
    case 'log':
      return [];
    case 'root':
      return [toText(scope.taskId)];
    case 'conversation':
      return [toText(scope.conversationId)];
    case 'child':
      return [toText(scope.rootId), toText(scope.taskId)];
  }
}

function keyOf(table: 'task' | 'conversation', id: string): string {
  return `(select key from holdfast.${table} where log = (select log from place) and id = ${id})`;
}
