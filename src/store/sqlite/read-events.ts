import type { Database } from 'better-sqlite3';
import type { Event } from '../../model/event.ts';
import type { EventPage, EventQuery, Scope } from '../store.ts';

const MAX_ROWS = 200;
/** Of data. */
const MAX_BYTES = 256 * 1024;
const MAX_SEQS = 5_000;
const MAX_NAMES = 10_000;

const SELECT = 'select e.seq, e.task, e.type, e.at, e.step, e.data from event e';
const RANGE = 'e.seq > @after and e.seq <= @upTo';
/** A root's newest event is its end, once it has ended. */
const UNFINISHED = `exists (select 1 from task r where r.key = e.root and (r.finished_at is null or r.last_seq > @unfinishedAt))`;
const IN_ORDER = 'order by e.seq limit @limit';

const PLACES: Record<Scope['kind'], string> = {
  log: `e.log = (select id from log where owner = @owner) and ${RANGE}`,
  root: `e.root = (${keyOf('@rootId')}) and ${RANGE}`,
  child: `e.root = (${keyOf('@rootId')}) and e.task = (${keyOf('@taskId')}) and ${RANGE}`,
};

interface Parameters {
  owner: string;
  rootId: string | null;
  taskId: string | null;
  after: number;
  upTo: number;
  unfinishedAt: number | null;
  limit: number;
}

type Row = [seq: number, task: number, type: string, at: number, step: string | null, data: string];

/** Prepares the reading of pages of events. */
export function createReadEvents(db: Database): (owner: string, query: EventQuery) => EventPage {
  const prepare = (where: string) => db.prepare<[Parameters], Row>(`${SELECT} where ${where} ${IN_ORDER}`).raw();
  const prepareBoth = (place: string) => ({ all: prepare(place), unfinished: prepare(`${place} and ${UNFINISHED}`) });
  const statements = { log: prepareBoth(PLACES.log), root: prepareBoth(PLACES.root), child: prepareBoth(PLACES.child) };

  const namesOf = createNames(db);
  return (owner, { scope, after, upTo, unfinishedAt, limit }) => {
    const statement = statements[scope.kind][unfinishedAt === null ? 'all' : 'unfinished'];
    const end = scope.kind === 'root' ? upTo : Math.min(upTo, after + MAX_SEQS);
    const maxRows = Math.min(limit, MAX_ROWS);
    const range = { after, upTo: end, unfinishedAt, limit: maxRows };
    const events: Event[] = [];
    let bytes = 0;
    for (const [seq, task, type, at, step, data] of statement.iterate({ owner, ...ids(scope), ...range })) {
      bytes += Buffer.byteLength(data);
      if (bytes > MAX_BYTES && events.length > 0) return { events, scannedTo: lastSeq(events, after) };
      const { taskId, rootId } = namesOf(task);
      events.push({ taskId, type, step, data, seq, at, rootId });
    }
    return { events, scannedTo: events.length < maxRows ? Math.max(after, end) : lastSeq(events, after) };
  };
}

/** The ids behind a task's key, which is never given again: joined to every row they would be a third of the reading. */
function createNames(db: Database): (key: number) => { taskId: string; rootId: string } {
  const select = db.prepare<[number], { taskId: string; rootId: string }>(
    'select id as taskId, root_id as rootId from task where key = ?',
  );
  const known = new Map<number, { taskId: string; rootId: string }>();
  return (key) => {
    const names = known.get(key) ?? select.get(key);
    if (names === undefined) throw new Error(`An event belongs to no task: ${key}.`);
    if (known.size >= MAX_NAMES) known.clear();
    known.set(key, names);
    return names;
  };
}

function ids(scope: Scope): { taskId: string | null; rootId: string | null } {
  switch (scope.kind) {
    case 'log':
      return { taskId: null, rootId: null };
    case 'root':
      return { taskId: null, rootId: scope.taskId };
    case 'child':
      return { taskId: scope.taskId, rootId: scope.rootId };
  }
}

function lastSeq(events: readonly Event[], after: number): number {
  return events.at(-1)?.seq ?? after;
}

function keyOf(id: string): string {
  return `select task.key from task join log on log.id = task.log where log.owner = @owner and task.id = ${id}`;
}
