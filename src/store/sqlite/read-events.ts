import type { Database } from 'better-sqlite3';
import type { Event } from '../../model/event.ts';
import type { EventPage, EventQuery, Scope } from '../store.ts';

const MAX_ROWS = 200;
/** Of data. */
const MAX_BYTES = 256 * 1024;
const MAX_SEQS = 5_000;
const MAX_NAMES = 10_000;
/** What stands for the task of an event that has none. */
const NO_TASK = 0;

const SELECT = 'select e.seq, e.task, e.conversation, e.type, e.at, e.step, e.data from event e';
const RANGE = 'e.seq > @after and e.seq <= @upTo';
/** A root's newest event is its end, once it has ended. */
const UNFINISHED = `exists (select 1 from task r where r.key = e.root and (r.finished_at is null or r.last_seq > @unfinishedAt))`;
/** Of a deleted conversation only the deletion is told. Mostly there is none whose rows are still here. */
const SHOWN = `(e.conversation is null or e.type = 'conversation.deleted' or e.conversation not in
  (select key from conversation where deleted_at is not null and purged = 0))`;
const IN_ORDER = 'order by e.seq limit @limit';

const PLACES: Record<Scope['kind'], string> = {
  log: `e.log = (select id from log where owner = @owner) and ${RANGE}`,
  root: `e.root = (${keyOf('@rootId')}) and ${RANGE}`,
  conversation: `e.conversation = (select conversation.key from conversation join log on log.id = conversation.log
    where log.owner = @owner and conversation.id = @conversationId) and ${RANGE}`,
  child: `e.root = (${keyOf('@rootId')}) and e.task = (${keyOf('@taskId')}) and ${RANGE}`,
};

interface Parameters {
  owner: string;
  rootId: string | null;
  taskId: string | null;
  conversationId: string | null;
  after: number;
  upTo: number;
  unfinishedAt: number | null;
  limit: number;
}

type Row = [
  seq: number,
  task: number,
  conversation: number | null,
  type: string,
  at: number,
  step: string | null,
  data: string,
];

/** Prepares the reading of pages of events. */
export function createReadEvents(db: Database): (owner: string, query: EventQuery) => EventPage {
  const prepare = (where: string) =>
    db.prepare<[Parameters], Row>(`${SELECT} where ${where} and ${SHOWN} ${IN_ORDER}`).raw();
  const prepareBoth = (place: string) => ({ all: prepare(place), unfinished: prepare(`${place} and ${UNFINISHED}`) });
  const statements = {
    log: prepareBoth(PLACES.log),
    root: prepareBoth(PLACES.root),
    child: prepareBoth(PLACES.child),
    conversation: prepareBoth(PLACES.conversation),
  };

  const namesOf = createNames(db);
  const nameOf = createConversationName(db);
  const headOf = createHead(db);
  return (owner, { scope, after, upTo: asked, unfinishedAt, limit }) => {
    const upTo = asked ?? headOf(owner);
    const statement = statements[scope.kind][unfinishedAt === null ? 'all' : 'unfinished'];
    const end = scope.kind === 'root' || scope.kind === 'conversation' ? upTo : Math.min(upTo, after + MAX_SEQS);
    // A place above the head is not told as one that was read.
    const covered = asked === null ? end : Math.max(after, end);
    const maxRows = Math.min(limit, MAX_ROWS);
    const range = { after, upTo: end, unfinishedAt, limit: maxRows };
    const events: Event[] = [];
    let bytes = 0;
    for (const [seq, task, conversation, type, at, step, data] of statement.iterate({
      owner,
      ...ids(scope),
      ...range,
    })) {
      bytes += Buffer.byteLength(data);
      if (bytes > MAX_BYTES && events.length > 0) return { events, scannedTo: lastSeq(events, after) };
      const { taskId, rootId, conversationId } = task === NO_TASK ? nameOf(conversation) : namesOf(task);
      events.push({ taskId, conversationId, type, step, data, seq, at, rootId });
    }
    return { events, scannedTo: events.length < maxRows ? covered : lastSeq(events, after) };
  };
}

/** What an event belongs to. */
type Names = Pick<Event, 'taskId' | 'rootId' | 'conversationId'>;

/** The ids behind a task's key, which is never given again: joined to every row they would be a third of the reading. */
function createNames(db: Database): (key: number) => Names {
  const select = db.prepare<[number], Names>(
    'select id as taskId, root_id as rootId, conversation_id as conversationId from task where key = ?',
  );
  const known = new Map<number, Names>();
  return (key) => {
    const names = known.get(key) ?? select.get(key);
    if (names === undefined) throw new Error(`An event belongs to no task: ${key}.`);
    if (known.size >= MAX_NAMES) known.clear();
    known.set(key, names);
    return names;
  };
}

/** The same of an event of no task. */
function createConversationName(db: Database): (key: number | null) => Names {
  const select = db.prepare<[number | null], string>('select id from conversation where key = ?').pluck();
  return (key) => ({ taskId: null, rootId: null, conversationId: select.get(key) ?? null });
}

function createHead(db: Database): (owner: string) => number {
  const select = db.prepare<[string], number>('select head from log where owner = ?').pluck();
  return (owner) => select.get(owner) ?? 0;
}

function ids(scope: Scope): Pick<Parameters, 'taskId' | 'rootId' | 'conversationId'> {
  const none = { taskId: null, rootId: null, conversationId: null };
  switch (scope.kind) {
    case 'log':
      return none;
    case 'root':
      return { ...none, rootId: scope.taskId };
    case 'child':
      return { ...none, taskId: scope.taskId, rootId: scope.rootId };
    case 'conversation':
      return { ...none, conversationId: scope.conversationId };
  }
}

function lastSeq(events: readonly Event[], after: number): number {
  return events.at(-1)?.seq ?? after;
}

function keyOf(id: string): string {
  return `select task.key from task join log on log.id = task.log where log.owner = @owner and task.id = ${id}`;
}
