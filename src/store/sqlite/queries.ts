import type { Database } from 'better-sqlite3';
import { KEY_LIFETIME_MS } from '../../model/batch.ts';
import type { LogState, Queries } from '../store.ts';
import { createClaimable } from './claimable.ts';
import { createConversationLists } from './conversation-lists.ts';
import { createDue } from './due.ts';
import { createLists } from './lists.ts';
import type { agent } from './log-schema.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { createReadEvents } from './read-events.ts';
import { isShown } from './shown.ts';
import type { Synchronous } from './synchronous.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

/** Prepares all queries on a connection. Each is one or a few statements that run to their end before it returns. */
export function createQueries(db: Database, now: () => number): Synchronous<Queries> {
  const statements = prepare(db);
  return {
    ...createLists(db),
    ...createConversationLists(db),
    ...createDue(db, now),
    ...createClaimable(db),
    readEvents: createReadEvents(db),
    task(owner, id) {
      const row = statements.task.get(owner, id);
      return row === undefined ? null : toTask(row);
    },
    question(owner, id) {
      const row = statements.question.get(owner, id);
      return row === undefined ? null : toQuestion(row);
    },
    log(owner) {
      const row = statements.log.get(owner);
      return row === undefined ? EMPTY_LOG : { ...row, epochs: JSON.parse(row.epochs) };
    },
    unfinishedRoots: (owner) => statements.unfinishedRoots.get(owner) ?? 0,
    unfinishedFrom(owner, conversationId) {
      const { unfinished, unfinishedOf } = statements;
      const firstSeq = conversationId === undefined ? unfinished.get(owner) : unfinishedOf.get(owner, conversationId);
      return firstSeq === undefined || firstSeq === null ? null : firstSeq - 1;
    },
    hasKey: (owner, key) => statements.key.get(owner, key, now() - KEY_LIFETIME_MS) !== undefined,
    agents: () => statements.agents.all().map((row) => ({ ...row, inputSchema: JSON.parse(row.inputSchema) })),
  };
}

const SHOWN = isShown('task.conversation_id');
const EMPTY_LOG: LogState = { head: 0, prunedSeq: 0, epochs: [] };

function prepare(db: Database) {
  return {
    task: db.prepare<[string, string], TaskRead>(`${SELECT_TASK} where log.owner = ? and task.id = ? and ${SHOWN}`),
    question: db.prepare<[string, string], QuestionRead>(
      `${SELECT_QUESTION} where log.owner = ? and question.id = ? and ${SHOWN}`,
    ),
    unfinishedRoots: db.prepare<[string], number>('select unfinished_roots from log where owner = ?').pluck(),
    // One statement, so that the head and the epochs are of one moment.
    log: db.prepare<[string], Omit<LogState, 'epochs'> & { epochs: string }>(
      `select head, pruned_seq as prunedSeq,
        (select json_group_array(json_object('epoch', epoch, 'firstSeq', first_seq) order by first_seq)
          from log_epoch where log_epoch.log = log.id) as epochs
        from log where owner = ?`,
    ),
    unfinished: db
      .prepare<[string], number>(
        `select first_seq from task where log = (select id from log where owner = ?)
          and parent_id is null and finished_at is null order by first_seq limit 1`,
      )
      .pluck(),
    unfinishedOf: db
      .prepare<[string, string], number | null>(
        `select min(first_seq) from task where log = (select id from log where owner = ?) and conversation_id = ?
          and status in ('queued', 'running', 'waiting') and parent_id is null`,
      )
      .pluck(),
    key: db
      .prepare<[string, string, number], 1>(
        'select 1 from idempotency_key where log = (select id from log where owner = ?) and key = ? and at > ?',
      )
      .pluck(),
    agents: db.prepare<[], typeof agent.$inferSelect>(
      'select name, version, description, input_schema as inputSchema from agent order by name',
    ),
  };
}
