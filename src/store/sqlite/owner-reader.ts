import type { Database } from 'better-sqlite3';
import type { Turn } from '../../model/agent.ts';
import type { needsOf } from '../../model/batch.ts';
import type { ConversationRecord } from '../../model/conversation.ts';
import type { EventData } from '../../model/event.ts';
import { childKey, type JournalRow, type RowKey } from '../../model/journal.ts';
import { turnLane } from '../../model/lane.ts';
import type { LogRecord } from '../../model/log-record.ts';
import type { QuestionRecord } from '../../model/question.ts';
import { untaken } from '../../model/turn.ts';
import type { KeyRecord } from '../../model/view.ts';
import type { Queueing } from '../offered.ts';
import { type ConversationRead, SELECT_CONVERSATION, toConversation } from './conversation-row.ts';
import { type JournalRead, SELECT_ROW, toRow } from './journal-row.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { createReadHistory } from './read-history.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

/** A task as it was before a batch. */
export interface StoredTask extends Queueing {
  key: number;
}

interface StoredConversation {
  key: number;
  record: ConversationRecord;
}

/** What was read for a batch, before which the log stood so. */
export interface OwnerRows {
  log: LogRecord & { id: number };
  /** By id. */
  tasks: ReadonlyMap<string, StoredTask>;
  questions: readonly QuestionRecord[];
  /** By id. */
  conversations: ReadonlyMap<string, StoredConversation>;
  rows: readonly JournalRow[];
  histories: readonly (readonly [taskId: string, turns: Turn[]])[];
  texts: readonly (readonly [messageId: string, text: string])[];
  keys: readonly KeyRecord[];
}

/** Prepares the reading of one owner's rows. @returns null for an owner who has no log yet */
export function createReadOwner(db: Database): (owner: string, needs: ReturnType<typeof needsOf>) => OwnerRows | null {
  const statements = prepare(db);
  return (owner, needs) => {
    const log = statements.log.get(owner);
    if (log === undefined) return null;
    const reader = new OwnerReader(statements, log.id);
    reader.read(needs);
    const { tasks, questions, conversations, rows, texts, histories, keys } = reader;
    return { log, tasks, questions, conversations, rows, texts, histories, keys };
  };
}

/** Reads for one batch, each task once. */
class OwnerReader {
  readonly tasks = new Map<string, StoredTask>();
  readonly questions: QuestionRecord[] = [];
  readonly conversations = new Map<string, StoredConversation>();
  readonly rows: JournalRow[] = [];
  readonly texts: [messageId: string, text: string][] = [];
  readonly histories: [taskId: string, turns: Turn[]][] = [];
  readonly keys: KeyRecord[] = [];
  readonly #statements: Statements;
  readonly #logId: number;

  constructor(statements: Statements, logId: number) {
    this.#statements = statements;
    this.#logId = logId;
  }

  read(needs: ReturnType<typeof needsOf>): void {
    for (const id of needs.tasks) this.#task(id);
    for (const id of needs.trees) this.#treeAndParent(id);
    for (const id of needs.pending) this.#pending(id);
    for (const id of needs.journals) this.#journal(id);
    for (const id of needs.questions) this.#question(id);
    for (const id of needs.lanes) this.#lane(id);
    for (const spawn of needs.formerChildren) this.#formerChild(spawn);
    for (const id of needs.conversations) this.#conversation(id);
    for (const id of needs.gatherings) this.#gathering(id);
    for (const id of needs.firstTurns) this.#firstTurn(id);
    for (const id of needs.histories) this.#history(id);
    for (const key of needs.rows) this.#row(key);
    for (const key of needs.keys) this.#key(key);
  }

  #task(id: string): StoredTask | null {
    const known = this.tasks.get(id);
    if (known !== undefined) return known;
    const row = this.#statements.task.get(this.#logId, id);
    return row === undefined ? null : this.#add(row);
  }

  /** A child's events move its root's newest seq, and belong to its conversation as well: they come along. */
  #add(row: TaskRead): StoredTask {
    const task = { key: row.key, record: toTask(row), blocked: row.blocked === 1 };
    this.tasks.set(row.id, task);
    this.#task(row.rootId);
    if (row.conversationId !== null) this.#conversation(row.conversationId);
    return task;
  }

  #conversation(id: string): void {
    if (this.conversations.has(id)) return;
    const row = this.#statements.conversation.get(this.#logId, id);
    if (row !== undefined) this.conversations.set(id, { key: row.key, record: toConversation(row) });
  }

  #gathering(id: string): void {
    this.#conversation(id);
    for (const taskId of this.#statements.unfinishedOf.all(this.#logId, id)) {
      const task = this.#task(taskId);
      if (task !== null) this.#tree(task);
    }
  }

  #firstTurn(id: string): void {
    this.#conversation(id);
    for (const row of this.#statements.firstTurn.all(this.#logId, turnLane(id))) {
      if (!this.tasks.has(row.id)) this.#add(row);
    }
  }

  #history(id: string): void {
    const task = this.#task(id);
    if (task === null || task.record.conversationId === null) return;
    const retried = new Set<string>();
    for (let former = this.#retried(task); former !== null; former = this.#retried(former))
      retried.add(former.record.id);
    const turns = this.#statements.history(this.#logId, task.record.conversationId, task.key, retried);
    this.histories.push([id, turns]);
  }

  /** A task that ends resolves the row of its parent's journal that waits for it. */
  #treeAndParent(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    this.#tree(task);
    const { parentId, spawnKey } = task.record;
    if (parentId !== null && spawnKey !== null) this.#row({ taskId: parentId, key: childKey(spawnKey) });
  }

  #tree(task: StoredTask): void {
    this.#pendingQuestions(task);
    this.#texts(task, this.#pendingRows(task));
    for (const { taskId } of untaken(task.record)) this.#task(taskId);
    for (const childId of this.#statements.unfinishedChildren.all(this.#logId, task.record.id)) {
      const child = this.#task(childId);
      if (child !== null) this.#tree(child);
    }
  }

  #pending(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    this.#pendingQuestions(task);
    this.#pendingRows(task);
  }

  /** Of the task's own children first, then of those of the tasks that it is a retry of. */
  #formerChild(spawn: RowKey): void {
    for (let parent = this.#task(spawn.taskId); parent !== null; parent = this.#retried(parent)) {
      const id = this.#statements.formerChild.get(this.#logId, parent.record.id, spawn.key)?.id ?? null;
      if (id === null) continue;
      this.#journal(id);
      return;
    }
  }

  #retried({ record }: StoredTask): StoredTask | null {
    return record.retryOf === null ? null : this.#task(record.retryOf);
  }

  #journal(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    this.#pendingQuestions(task);
    this.#addRows(task, this.#statements.journal.all(task.key));
  }

  #pendingQuestions(task: StoredTask): void {
    for (const row of this.#statements.pendingQuestions.all(task.key)) this.questions.push(toQuestion(row));
  }

  #pendingRows(task: StoredTask): JournalRow[] {
    return this.#addRows(task, this.#statements.pendingRows.all(task.key));
  }

  #addRows({ record }: StoredTask, read: readonly JournalRead[]): JournalRow[] {
    const rows = read.map((row) => toRow(row, record.id));
    for (const row of rows) this.rows.push(row);
    return rows;
  }

  /** What the messages that rows have begun, if they have, have said so far. */
  #texts({ key, record }: StoredTask, rows: readonly JournalRow[]): void {
    const messages = rows.flatMap(({ message }) => message ?? []);
    const root = this.#task(record.rootId);
    if (messages.length === 0 || root === null) return;
    const texts = new Map(messages.map(({ id }) => [id, '']));
    const after = Math.min(...messages.map(({ afterSeq }) => afterSeq));
    for (const data of this.#statements.deltas.all(root.key, after, key)) {
      const { messageId, text }: EventData['message.delta'] = JSON.parse(data);
      const before = texts.get(messageId);
      if (before !== undefined) texts.set(messageId, before + text);
    }
    this.texts.push(...texts);
  }

  #question(id: string): void {
    const row = this.#statements.question.get(this.#logId, id);
    if (row === undefined) return;
    this.questions.push(toQuestion(row));
    this.#row({ taskId: row.taskId, key: row.name });
  }

  #lane(id: string): void {
    const lane = this.#task(id)?.record.lane ?? null;
    if (lane === null) return;
    const { heldInLane, firstTurn } = this.#statements;
    for (const row of [...heldInLane.all(this.#logId, lane), ...firstTurn.all(this.#logId, lane)]) {
      if (!this.tasks.has(row.id)) this.#add(row);
    }
  }

  #row({ taskId, key }: RowKey): void {
    const task = this.#task(taskId);
    if (task === null) return;
    const row = this.#statements.row.get(task.key, key);
    if (row !== undefined) this.#addRows(task, [row]);
  }

  #key(key: string): void {
    const row = this.#statements.key.get(this.#logId, key);
    if (row !== undefined) this.keys.push(row);
  }
}

type Statements = ReturnType<typeof prepare>;

/** Tasks go by their keys where one is at hand, else by log and id. */
function prepare(db: Database) {
  return {
    log: db.prepare<[string], LogRecord & { id: number }>(
      `select id, owner, head, pruned_seq as prunedSeq, epoch, unfinished_roots as unfinishedRoots,
        pending_questions as pendingQuestions from log where owner = ?`,
    ),
    task: db.prepare<[number, string], TaskRead>(`${SELECT_TASK} where task.log = ? and task.id = ?`),
    unfinishedChildren: db
      .prepare<[number, string], string>(
        'select id from task where log = ? and parent_id = ? and finished_at is null order by key',
      )
      .pluck(),
    heldInLane: db.prepare<[number, string], TaskRead>(
      `${SELECT_TASK} where task.log = ? and task.lane = ? and task.held = 1`,
    ),
    formerChild: db.prepare<[number, string, string], { id: string | null }>(
      'select max(key), id from task where log = ? and parent_id = ? and spawn_key = ?',
    ),
    firstTurn: db.prepare<[number, string], TaskRead>(
      `${SELECT_TASK} where task.log = ? and task.lane = ? and is_turn = 1 and finished_at is null
        order by task.key limit 1`,
    ),
    conversation: db.prepare<[number, string], ConversationRead>(
      `${SELECT_CONVERSATION} where conversation.log = ? and conversation.id = ?`,
    ),
    unfinishedOf: db
      .prepare<[number, string], string>(
        `select id from task where log = ? and conversation_id = ? and status in ('queued', 'running', 'waiting')
          and parent_id is null`,
      )
      .pluck(),
    history: createReadHistory(db),
    question: db.prepare<[number, string], QuestionRead>(
      `${SELECT_QUESTION} where question.log = ? and question.id = ?`,
    ),
    pendingQuestions: db.prepare<[number], QuestionRead>(
      `${SELECT_QUESTION} where question.task = ? and question.status = 'pending' order by question.key`,
    ),
    row: db.prepare<[number, string], JournalRead>(`${SELECT_ROW} where task = ? and key = ?`).raw(),
    pendingRows: db.prepare<[number], JournalRead>(`${SELECT_ROW} where task = ? and status = 'pending'`).raw(),
    journal: db.prepare<[number], JournalRead>(`${SELECT_ROW} where task = ?`).raw(),
    deltas: db
      .prepare<[root: number, after: number, task: number], string>(
        `select data from event where root = ? and seq > ? and task = ? and type = 'message.delta' order by seq`,
      )
      .pluck(),
    key: db.prepare<[number, string], KeyRecord>(
      'select key, fingerprint, result, at from idempotency_key where log = ? and key = ?',
    ),
  };
}
