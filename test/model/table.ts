import { type Batch, decideBatch, needsOf, type ResultOf, type VerbCall } from '../../src/model/batch.ts';
import type { ConversationRecord } from '../../src/model/conversation.ts';
import type { EpochRow } from '../../src/model/epoch.ts';
import type { Event, Message } from '../../src/model/event.ts';
import type { JournalRow } from '../../src/model/journal.ts';
import { type LogRecord, newLog } from '../../src/model/log-record.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import { isTerminal, type TaskRecord } from '../../src/model/task.ts';
import type { Outcome } from '../../src/model/verb.ts';
import { type KeyRecord, rowId, View } from '../../src/model/view.ts';
import { Loader } from './loader.ts';

/** 2026-01-01 at noon, UTC. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** What a view holds: the rows that the calls need and no others, newest first; or all of the owner's, oldest first. */
export type Loading = 'needed' | 'everything';

export type Ran<Result> = Omit<Batch, 'outcomes'> & { outcome: Outcome<Result> };

export type Records = Pick<
  Table,
  'log' | 'epochs' | 'events' | 'tasks' | 'questions' | 'conversations' | 'messages' | 'rows' | 'keys'
>;

/** All records of one owner, in memory: what a store is to the model. Its clock stands still until it is moved. */
export class Table {
  now = NOON;
  epoch = 'epoch001';
  log: LogRecord = newLog('local');
  readonly epochs: EpochRow[] = [];
  readonly tasks = new Map<string, TaskRecord>();
  readonly questions = new Map<string, QuestionRecord>();
  readonly conversations = new Map<string, ConversationRecord>();
  readonly messages = new Map<string, Message>();
  /** Of all journals, by `rowId`. */
  readonly rows = new Map<string, JournalRow>();
  readonly keys = new Map<string, KeyRecord>();
  /** Every event there ever was. */
  readonly told: Event[] = [];
  /** Those that were not pruned. */
  events: Event[] = [];

  commit(calls: readonly VerbCall[], loading: Loading = 'needed'): Batch {
    const view = new View(this.log);
    const loader = new Loader(this);
    view.load(loading === 'needed' ? loader.needed(needsOf(calls)) : loader.everything());
    const batch = decideBatch(view, calls, this.epoch, this.now);
    this.#write(view, batch);
    return batch;
  }

  run<Call extends VerbCall>(call: Call, loading?: Loading): Ran<ResultOf<Call['verb']>> {
    const { outcomes, ...batch } = this.commit([call], loading);
    const [outcome] = outcomes as [Outcome<ResultOf<Call['verb']>>];
    return { ...batch, outcome };
  }

  task(id: string): TaskRecord {
    return existing(this.tasks.get(id));
  }

  question(id: string): QuestionRecord {
    return existing(this.questions.get(id));
  }

  row(taskId: string, key: string): JournalRow {
    return existing(this.rows.get(rowId({ taskId, key })));
  }

  /** The whole journal of a task, in the order of its rows' creation. */
  journal(taskId: string): JournalRow[] {
    return [...this.rows.values()].filter((row) => row.taskId === taskId);
  }

  pendingRows(taskId: string): JournalRow[] {
    return this.journal(taskId).filter(({ status }) => status === 'pending');
  }

  pendingQuestions(taskId: string): QuestionRecord[] {
    return [...this.questions.values()].filter((each) => each.taskId === taskId && each.resolution === null);
  }

  unfinishedChildren(taskId: string): TaskRecord[] {
    return [...this.tasks.values()].filter(({ parentId, status }) => parentId === taskId && !isTerminal(status));
  }

  /** Everything that is stored, as it is now. */
  records(): Records {
    const { log, tasks, questions, conversations, messages, rows, keys } = this;
    return {
      ...{ log, epochs: [...this.epochs], events: [...this.events] },
      ...{ conversations: new Map(conversations), messages: new Map(messages) },
      ...{ tasks: new Map(tasks), questions: new Map(questions), rows: new Map(rows), keys: new Map(keys) },
    };
  }

  #write(view: View, { events, firstSeq }: Batch): void {
    for (const id of view.dirtyTasks) this.tasks.set(id, Object.freeze(existing(view.task(id))));
    for (const id of view.dirtyQuestions) this.questions.set(id, Object.freeze(existing(view.question(id))));
    for (const id of view.dirtyConversations) {
      this.conversations.set(id, Object.freeze(existing(view.conversationRow(id))));
    }
    for (const message of view.dirtyMessages.values()) this.messages.set(message.id, Object.freeze(message));
    for (const row of view.droppedRows.keys()) this.rows.delete(row);
    for (const [id, row] of view.dirtyRows) this.rows.set(id, Object.freeze(row));
    for (const key of view.newKeys) this.keys.set(key.key, key);
    if (view.log.epoch !== this.log.epoch) this.epochs.push({ epoch: existing(view.log.epoch), firstSeq });
    this.log = view.log;
    this.told.push(...events);
    this.events.push(...events);
    for (const { rootId, upTo } of view.pruned) this.#prune(rootId, upTo);
  }

  #prune(rootId: string, upTo: number): void {
    this.events = this.events.filter((event) => event.rootId !== rootId || event.seq > upTo);
    for (const [id, { taskId }] of this.rows) if (this.task(taskId).rootId === rootId) this.rows.delete(id);
  }
}

function existing<T>(record: T | null | undefined): T {
  if (record === null || record === undefined) throw new Error('There is no such record.');
  return record;
}
