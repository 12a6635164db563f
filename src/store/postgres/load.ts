import { needsOf, type VerbCall } from '../../model/batch.ts';
import type { LogRecord } from '../../model/log-record.ts';
import { View } from '../../model/view.ts';
import { INSTANT, type Instant, replaceEpoch } from './epoch.ts';
import { toText } from './escape.ts';
import type { Link } from './link.ts';
import type { Loners } from './loners.ts';
import { OwnerReader, type StoredTask } from './owner-reader.ts';
import { statement } from './statement.ts';

/** A log as it stood when it was locked. `batch` is what the last commit has left in it. */
type StoredLog = Omit<LogRecord, 'owner'> & { id: number; batch: number };

/** One owner's view under the owner's lock, and what ties its records to their rows. */
export interface Loaded {
  view: View;
  log: StoredLog;
  /** What the database said once the lock was held. */
  instant: Instant & { epoch: string };
  /** The loaded tasks as they were before the batch, by id. One that is not here is new. */
  tasks: ReadonlyMap<string, StoredTask>;
  /** The rows' keys of the loaded conversations, by id. */
  conversationKeys: ReadonlyMap<string, number>;
  /** Names under which tasks are to be claimed, of processes that live no more. */
  deadNodes: ReadonlySet<string>;
}

const LOCK = statement<StoredLog>(
  `select id, head, pruned_seq as "prunedSeq", epoch, unfinished_roots as "unfinishedRoots",
    pending_questions as "pendingQuestions", batch from holdfast.log where owner = $1 for no key update`,
);
/** Behind all who wait: else a stream of new owners would keep their turn from the others. */
const MAKE_LOG = statement(
  `insert into holdfast.log (owner, head, pruned_seq, claimable, turn, unfinished_roots, pending_questions, batch)
    values ($1, 0, 0, 0, (select case when is_called then last_value else 0 end from holdfast.turns), 0, 0, 0) on conflict (owner) do nothing`,
);
/** Whoever takes one for dead waits for the claims that are under way, and claims behind that find it dead. */
const LIVING = statement<{ id: string }>(
  'select id from holdfast.node where id = any($1::text[]) and dead_at is null for key share',
);

/**
 * Begins a transaction, takes the owner's lock, and reads what the calls need, mostly in one go: each statement sees what
 * was committed before it began, and all of them begin when the lock is held.
 */
export async function load(link: Link, owner: string, calls: readonly VerbCall[], loners: Loners): Promise<Loaded> {
  const [, loaded] = await Promise.all([link.begin(), lockAndRead(link, owner, calls, loners)]);
  if (loaded !== null) return loaded;
  const [, made] = await Promise.all([link.ask(MAKE_LOG, toText(owner)), lockAndRead(link, owner, calls, loners)]);
  if (made === null) throw new Error('A log that was made is not there.');
  return made;
}

/** @returns null for an owner who has no log yet */
async function lockAndRead(
  link: Link,
  owner: string,
  calls: readonly VerbCall[],
  loners: Loners,
): Promise<Loaded | null> {
  const nodes = [...new Set(calls.flatMap((call) => (call.verb === 'claimTask' ? call.args.node : [])))];
  const reader = new OwnerReader(link, toText(owner), needsOf(calls), loners);
  const [[log], [instant], living] = await Promise.all([
    link.ask(LOCK, toText(owner)),
    link.ask(INSTANT),
    nodes.length === 0 ? [] : link.ask(LIVING, nodes),
    reader.begin(),
  ]);
  if (log === undefined || instant === undefined) return null;
  await reader.complete();
  const alive = new Set(living.map(({ id }) => id));
  return {
    view: viewOf(owner, log, reader),
    log,
    instant: await ours(link, instant),
    tasks: reader.tasks,
    conversationKeys: new Map([...reader.conversations].map(([id, { key }]) => [id, key])),
    deadNodes: new Set(nodes.filter((node) => !alive.has(node))),
  };
}

function viewOf(owner: string, { id: _id, batch: _batch, ...log }: StoredLog, reader: OwnerReader): View {
  const view = new View({ owner, ...log });
  view.load({
    questions: reader.questions,
    rows: reader.rows,
    texts: reader.texts,
    histories: reader.histories,
    keys: reader.keys,
    tasks: [...reader.tasks.values()].map(({ record }) => record),
    conversations: [...reader.conversations.values()].map(({ record }) => record),
  });
  return view;
}

/** The same instant, under an epoch that was made in this database. */
async function ours(link: Link, instant: Instant): Promise<Loaded['instant']> {
  let { epoch, isOurs } = instant;
  while (epoch === null || !isOurs) {
    const [, [again]] = await Promise.all([replaceEpoch(link, { ...instant, epoch }), link.ask(INSTANT)]);
    if (again === undefined) throw new Error('The database does not tell its epoch.');
    ({ epoch, isOurs } = again);
  }
  return { ...instant, epoch };
}
