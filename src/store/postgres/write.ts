import { type Batch, KEY_LIFETIME_MS } from '../../model/batch.ts';
import type { View } from '../../model/view.ts';
import { isInLine, movesLane } from '../lane-moves.ts';
import { claimableCount } from '../offered.ts';
import { hasTurned } from '../task-changes.ts';
import { fromConversation, PUT_CONVERSATIONS } from './conversation-row.ts';
import { toText } from './escape.ts';
import { fromRow, PUT_ROWS } from './journal-row.ts';
import { unblockLanes } from './lanes.ts';
import type { Loaded } from './load.ts';
import { fromMessage, PUT_MESSAGES } from './message-row.ts';
import { fromQuestion, PUT_QUESTIONS } from './question-row.ts';
import { type Asked, type Statement, statement } from './statement.ts';
import { fromTask, INSERT_TASKS, taskProgress, taskUpdate, UPDATE_TASKS, UPDATE_TASKS_PROGRESS } from './task-row.ts';
import { insertEvents, type KeyOf } from './write-events.ts';

/** Longer than `model/batch.ts` honours a key. */
const KEY_KEPT_MS = KEY_LIFETIME_MS + 60 * 60_000;
/** Old keys go a few with each new one, so that no write has many to delete. */
const KEYS_DROPPED_AT_ONCE = 4;

const UPDATE_LOG = statement(
  `update holdfast.log set head = $2, pruned_seq = $3, epoch = $4, unfinished_roots = $5, pending_questions = $6, batch = $7,
    claimable = claimable + $8, turn = case when $9 then nextval('holdfast.turns') else turn end where id = $1`,
);
const INSERT_EPOCH = statement('insert into holdfast.log_epoch (log, epoch, first_seq) values ($1, $2, $3)');
const DROP_ROWS = statement(
  `delete from holdfast.journal using unnest($1::bigint[], $2::text[]) as dropped(task, key)
    where journal.task = dropped.task and journal.key = dropped.key`,
);
const PRUNE = statement('delete from holdfast.event where root = $1 and seq <= $2');
const PRUNE_JOURNALS = statement(
  `delete from holdfast.journal where task = any($1::bigint || array(
    select key from holdfast.task where log = $2 and root_id = $3 and parent_id is not null))`,
);
const PUT_KEY = statement(
  `insert into holdfast.idempotency_key (log, key, fingerprint, at, result) values ($1, $2, $3, $4, $5)
    on conflict (log, key) do update set fingerprint = excluded.fingerprint, at = excluded.at, result = excluded.result`,
);
/** They may be of any owner: what another transaction has in hand is left to it. */
const DROP_KEYS = statement(
  `delete from holdfast.idempotency_key where (log, key) in (select log, key from holdfast.idempotency_key where at < $1
    order by at limit ${KEYS_DROPPED_AT_ONCE} for update skip locked)`,
);

/** Whether there is nothing to write. */
export function isClean(view: View): boolean {
  const { dirtyTasks, dirtyQuestions, dirtyConversations, dirtyRows, droppedRows, newKeys, pruned, purged } = view;
  const dirty = dirtyTasks.size + dirtyQuestions.size + dirtyConversations.size + dirtyRows.size + droppedRows.size;
  return dirty + newKeys.length + pruned.length + purged.length === 0;
}

/**
 * What writes everything that was decided over a view, in this order: no statement waits for what another has given back.
 *
 * @param mark that the log is left with
 */
export function writesOf(loaded: Loaded, batches: readonly Batch[], mark: number): Asked[] {
  const { view, log, instant } = loaded;
  const events = batches.flatMap((batch) => batch.events);
  const taskKey: KeyOf = (id) => keyOf(id, loaded.tasks.get(id)?.key, view.dirtyTasks);
  const conversationKey: KeyOf = (id) => keyOf(id, loaded.conversationKeys.get(id), view.dirtyConversations);
  const tasks = writeTasks(loaded);
  return [
    [
      UPDATE_LOG,
      log.id,
      view.log.head,
      view.log.prunedSeq,
      view.log.epoch,
      ...unfinished(view),
      mark,
      ...tasks.counted,
    ],
    ...(view.log.epoch === log.epoch ? [] : [[INSERT_EPOCH, log.id, view.log.epoch, log.head + 1] as const]),
    ...put(
      PUT_CONVERSATIONS,
      [...view.dirtyConversations].map((id) => fromConversation(existing(view.conversationRow(id)), log.id)),
    ),
    ...tasks.writes,
    ...put(
      PUT_QUESTIONS,
      [...view.dirtyQuestions]
        .map((id) => existing(view.question(id)))
        .map((question) => fromQuestion(question, log.id, taskKey(question.taskId))),
    ),
    ...put(
      PUT_MESSAGES,
      [...view.dirtyMessages.values()].map((message) => {
        const conversation = conversationKey(message.conversationId ?? '');
        return fromMessage(message, log.id, { task: taskKey(message.taskId), conversation });
      }),
    ),
    ...writeJournals(view, log.id, taskKey),
    ...insertEvents(events, log.id, taskKey, conversationKey),
    ...view.pruned.flatMap(({ rootId, upTo }): Asked[] => [
      [PRUNE, taskKey(rootId), upTo],
      [PRUNE_JOURNALS, taskKey(rootId), log.id, rootId],
    ]),
    ...view.newKeys.map(
      ({ key, fingerprint, at, result }): Asked => [PUT_KEY, log.id, toText(key), toText(fingerprint), at, result],
    ),
    ...(view.newKeys.length > 0 ? [[DROP_KEYS, instant.now - KEY_KEPT_MS] as const] : []),
  ];
}

function unfinished({ log }: View): [roots: number, questions: number] {
  return [log.unfinishedRoots, log.pendingQuestions];
}

/** @returns what writes them, by how many the claimable ones have become more but for the lanes, and whether one was claimed */
function writeTasks({ view, tasks, log }: Loaded): { writes: Asked[]; counted: [more: number, claimed: boolean] } {
  const added: object[] = [];
  const turned: object[] = [];
  const gone: object[] = [];
  const lanes = new Set<string>();
  let more = 0;
  let claimed = false;
  for (const id of view.dirtyTasks) {
    const record = existing(view.task(id));
    const before = tasks.get(id);
    if (before !== undefined && !hasTurned(before.record, record)) {
      gone.push(taskProgress(record, before.key));
      continue;
    }
    const blocked = (before?.blocked ?? false) && isInLine(record);
    if (before === undefined) added.push(fromTask(record, log.id));
    else turned.push(taskUpdate(record, before.key, blocked));
    more += claimableCount({ record, blocked }) - (before === undefined ? 0 : claimableCount(before));
    claimed ||= record.fence > (before?.record.fence ?? 0);
    if (record.lane !== null && movesLane(before?.record, record)) lanes.add(record.lane);
  }
  const writes = [
    ...put(INSERT_TASKS, added),
    ...put(UPDATE_TASKS, turned),
    ...put(UPDATE_TASKS_PROGRESS, gone),
    ...unblockLanes(log.id, lanes),
  ];
  return { writes, counted: [more, claimed] };
}

/** First what goes: its places are given again. */
function writeJournals(view: View, logId: number, taskKey: KeyOf): Asked[] {
  const dropped = [...view.droppedRows.values()];
  const drop: Asked = [DROP_ROWS, dropped.map(({ taskId }) => taskKey(taskId)), dropped.map(({ key }) => toText(key))];
  const rows = [...view.dirtyRows.values()].map((row) => fromRow(row, logId, taskKey(row.taskId)));
  return [...(dropped.length > 0 ? [drop] : []), ...put(PUT_ROWS, rows)];
}

/** Many rows in one statement; none for none. */
function put(statement: Statement<never>, rows: readonly object[]): Asked[] {
  return rows.length === 0 ? [] : [[statement, JSON.stringify(rows)]];
}

/** @param made ids of rows that are written, among them those that are new */
function keyOf(id: string, key: number | undefined, made: ReadonlySet<string>): number | null {
  if (key === undefined && !made.has(id)) throw new Error(`A verb wrote something of ${id}, which is not loaded.`);
  return key ?? null;
}

function existing<T>(record: T | null): T {
  if (record === null) throw new Error('A verb marked a record dirty that is not in the view.');
  return record;
}
