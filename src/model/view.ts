import type { Turn } from './agent.ts';
import type { Changes } from './changes.ts';
import type { ConversationRecord } from './conversation.ts';
import type { EventData, Message } from './event.ts';
import type { JournalRow, RowKey } from './journal.ts';
import type { LogRecord } from './log-record.ts';
import type { QuestionRecord } from './question.ts';
import { isTerminal, type TaskRecord } from './task.ts';

/** What a verb must find loaded. Asking for a child brings its root as well. */
export interface Needs {
  /** Ids of tasks: their rows. */
  tasks?: readonly string[];
  /**
   * Ids of tasks: their rows, and of them and all their unfinished descendants the pending questions, the pending rows of
   * the journals, the text so far of the messages that those have begun, and the turns that messages in their inboxes have
   * begun already. Of a child also its parent, and the row of the parent's journal that waits for it.
   */
  trees?: readonly string[];
  /** Ids of tasks: their rows, and of each by itself the pending questions and the pending rows of the journal. */
  pending?: readonly string[];
  /** Ids of questions: their rows, their tasks', and the rows of the journals that wait for them. */
  questions?: readonly string[];
  /** Ids of tasks: the rows of the tasks that are held in their lanes, and of the first unfinished turns there. */
  lanes?: readonly string[];
  /** One row of a journal each, if there is one, and its task's. */
  rows?: readonly RowKey[];
  /** Ids of tasks: their rows, their whole journals, and their pending questions. */
  journals?: readonly string[];
  /** Keys of spawns: the newest child that the task has spawned under the key, or one that it is a retry of, with its journal. */
  formerChildren?: readonly RowKey[];
  /** Ids of conversations: their rows. Those of tasks come along with them. */
  conversations?: readonly string[];
  /** Ids of conversations: their rows, and all of their unfinished root tasks, each as in `trees`. */
  gatherings?: readonly string[];
  /** Ids of conversations: their rows, and the first of their unfinished turns. */
  firstTurns?: readonly string[];
  /** Ids of tasks: the turns of their conversations that were begun before them. */
  histories?: readonly string[];
}

/** The stored result of a request with an Idempotency-Key. */
export interface KeyRecord {
  key: string;
  /** Names the request: route, path and body. */
  fingerprint: string;
  /** JSON text of the verb's result. */
  result: string;
  at: number;
}

/**
 * The part of one owner's data that a batch of verbs works on. An engine loads it under the owner's lock; verbs decide
 * over it one after the other, each seeing the changes of those before; then the engine writes what is dirty.
 */
export class View {
  log: LogRecord;
  readonly dirtyTasks = new Set<string>();
  readonly dirtyQuestions = new Set<string>();
  readonly dirtyConversations = new Set<string>();
  /** Messages to be written, by id, in the order in which they came. */
  readonly dirtyMessages = new Map<string, Message>();
  /** Rows of journals to be written, and those to be deleted, by `rowId`. */
  readonly dirtyRows = new Map<string, JournalRow>();
  readonly droppedRows = new Map<string, RowKey>();
  readonly newKeys: KeyRecord[] = [];
  readonly pruned: { rootId: string; upTo: number }[] = [];
  readonly purged: string[] = [];
  readonly #loadedHead: number;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #questions = new Map<string, QuestionRecord>();
  readonly #conversations = new Map<string, ConversationRecord>();
  readonly #histories = new Map<string, Turn[]>();
  /** By task, then by key. */
  readonly #rows = new Map<string, Map<string, JournalRow>>();
  readonly #texts = new Map<string, string>();
  readonly #deltas: string[] = [];
  readonly #keys = new Map<string, KeyRecord>();

  constructor(log: LogRecord) {
    this.log = log;
    this.#loadedHead = log.head;
  }

  /** Puts in what was read from the store. A record that a verb has changed already is never overwritten. */
  load(rows: {
    tasks?: Iterable<TaskRecord>;
    questions?: Iterable<QuestionRecord>;
    conversations?: Iterable<ConversationRecord>;
    /** By the id of the task that they are for. */
    histories?: Iterable<readonly [taskId: string, turns: Turn[]]>;
    rows?: Iterable<JournalRow>;
    /** What unfinished messages have said so far, by their ids. */
    texts?: Iterable<readonly [messageId: string, text: string]>;
    keys?: Iterable<KeyRecord>;
  }): void {
    for (const task of rows.tasks ?? []) if (!this.#tasks.has(task.id)) this.#tasks.set(task.id, task);
    for (const question of rows.questions ?? []) {
      if (!this.#questions.has(question.id)) this.#questions.set(question.id, question);
    }
    for (const conversation of rows.conversations ?? []) {
      if (!this.#conversations.has(conversation.id)) this.#conversations.set(conversation.id, conversation);
    }
    for (const [taskId, turns] of rows.histories ?? []) this.#histories.set(taskId, turns);
    for (const row of rows.rows ?? []) {
      const isKnown = this.row(row) !== null || this.droppedRows.has(rowId(row));
      if (!isKnown) this.#journal(row.taskId).set(row.key, row);
    }
    for (const [messageId, text] of rows.texts ?? []) this.#texts.set(messageId, text);
    for (const key of rows.keys ?? []) if (!this.#keys.has(key.key)) this.#keys.set(key.key, key);
  }

  task(id: string): TaskRecord | null {
    return this.#tasks.get(id) ?? null;
  }

  question(id: string): QuestionRecord | null {
    return this.#questions.get(id) ?? null;
  }

  /** A conversation that was not deleted. */
  conversation(id: string): ConversationRecord | null {
    const conversation = this.conversationRow(id);
    return conversation?.deletedAt === null ? conversation : null;
  }

  /** The same, deleted or not. */
  conversationRow(id: string): ConversationRecord | null {
    return this.#conversations.get(id) ?? null;
  }

  /** The unfinished root tasks of a conversation that was gathered, oldest first. */
  gathering(conversationId: string): TaskRecord[] {
    return [...this.#tasks.values()]
      .filter((task) => task.conversationId === conversationId && task.parentId === null && !isTerminal(task.status))
      .sort((a, b) => a.firstSeq - b.firstSeq);
  }

  /** The turns that a task of a conversation is told of, whose history is loaded. */
  history(taskId: string): Turn[] {
    return this.#histories.get(taskId) ?? [];
  }

  /** The newest child that a task has spawned under a key, or one that it is a retry of; null unless that has ended. */
  formerChild({ taskId, key }: RowKey): TaskRecord | null {
    for (let parent = this.task(taskId); parent !== null; parent = this.task(parent.retryOf ?? '')) {
      const { id } = parent;
      const children = [...this.#tasks.values()].filter(
        ({ parentId, spawnKey }) => parentId === id && spawnKey === key,
      );
      const newest = children.sort((a, b) => b.firstSeq - a.firstSeq)[0];
      if (newest !== undefined) return isTerminal(newest.status) ? newest : null;
    }
    return null;
  }

  row({ taskId, key }: RowKey): JournalRow | null {
    return this.#rows.get(taskId)?.get(key) ?? null;
  }

  /** Of a task whose journal is loaded, all of it, by `askedAt`, then by key; else of it what is loaded. */
  rows(taskId: string): JournalRow[] {
    const rows = [...(this.#rows.get(taskId)?.values() ?? [])];
    return rows.sort((a, b) => a.askedAt - b.askedAt || (a.key < b.key ? -1 : 1));
  }

  /** What an unfinished message of a task whose tree is loaded has said so far, in this batch too. */
  messageText(messageId: string): string {
    const quoted = JSON.stringify(messageId);
    const said = this.#deltas
      .filter((data) => data.includes(quoted))
      .map((data): EventData['message.delta'] => JSON.parse(data));
    const texts = said.filter((delta) => delta.messageId === messageId).map(({ text }) => text);
    return [this.#texts.get(messageId) ?? '', ...texts].join('');
  }

  /** Notes the data of a `message.delta` of this batch. Nobody may ever ask: it is read only then. */
  addDelta(data: string): void {
    this.#deltas.push(data);
  }

  idempotencyKey(key: string): KeyRecord | null {
    return this.#keys.get(key) ?? null;
  }

  /** The pending questions of a task, oldest first. They must be loaded. */
  pendingQuestions(taskId: string): QuestionRecord[] {
    return [...this.#questions.values()]
      .filter((question) => question.taskId === taskId && question.resolution === null)
      .sort((a, b) => a.askedAt - b.askedAt || (a.id < b.id ? -1 : 1));
  }

  /** The unfinished children of a task whose tree is loaded, oldest first. */
  unfinishedChildren(taskId: string): TaskRecord[] {
    return [...this.#tasks.values()]
      .filter((task) => task.parentId === taskId && !isTerminal(task.status))
      .sort((a, b) => a.firstSeq - b.firstSeq);
  }

  /**
   * Whether a task must not begin because of others in its lane, which must be loaded with it: another is held, or it is a
   * turn and one before it has not ended. Its own children are in nobody's way. The lane of a task that is new in this
   * batch could not be loaded: it counts as busy. So does one in which a turn before it has ended in this batch, for what
   * came between them was not loaded either.
   */
  isLaneBusy(task: TaskRecord): boolean {
    const { lane, isTurn, parentId, firstSeq, id } = task;
    if (lane === null || parentId !== null) return false;
    if (firstSeq > this.#loadedHead) return true;
    const others = [...this.#tasks.values()].filter((other) => other.lane === lane && other.rootId !== id);
    const isBefore = (other: TaskRecord) => isTurn && other.isTurn && other.firstSeq < firstSeq;
    const wasUnfinished = ({ status, lastSeq }: TaskRecord) => !isTerminal(status) || lastSeq > this.#loadedHead;
    return others.some((other) => other.held || (isBefore(other) && wasUnfinished(other)));
  }

  /** Lets later verbs of the batch see a decision, and marks what must be written. */
  apply(changes: Changes): void {
    for (const question of changes.questions ?? []) {
      this.#count('pendingQuestions', pending(question) - pending(this.question(question.id)));
      this.#questions.set(question.id, question);
      this.dirtyQuestions.add(question.id);
    }
    for (const conversation of changes.conversations ?? []) {
      this.#conversations.set(conversation.id, conversation);
      this.dirtyConversations.add(conversation.id);
    }
    this.#putTasks(changes.tasks ?? []);
    for (const message of changes.messages ?? []) this.dirtyMessages.set(message.id, message);
    this.purged.push(...(changes.purge ?? []));
    for (const row of changes.droppedRows ?? []) {
      this.#journal(row.taskId).delete(row.key);
      this.dirtyRows.delete(rowId(row));
      this.droppedRows.set(rowId(row), row);
    }
    for (const row of changes.rows ?? []) {
      this.#journal(row.taskId).set(row.key, row);
      this.droppedRows.delete(rowId(row));
      this.dirtyRows.set(rowId(row), row);
    }
    for (const prune of changes.prune ?? []) {
      this.pruned.push(prune);
      this.log = { ...this.log, prunedSeq: Math.max(this.log.prunedSeq, prune.upTo) };
    }
  }

  applyKey(record: KeyRecord): void {
    this.#keys.set(record.key, record);
    this.newKeys.push(record);
  }

  /** Keeps the counts of what is unfinished: whatever ends a task or begins one, it passes here. */
  #putTasks(tasks: readonly TaskRecord[]): void {
    const below = new Map<string, number>();
    for (const task of tasks) {
      const more = unfinished(task) - unfinished(this.task(task.id));
      if (task.parentId === null) this.#countRoots(task, more);
      else if (more !== 0) below.set(task.rootId, (below.get(task.rootId) ?? 0) + more);
      this.#tasks.set(task.id, task);
      this.dirtyTasks.add(task.id);
    }
    for (const [rootId, more] of below) {
      const root = this.task(rootId);
      if (root === null) throw new Error(`The root ${rootId} of a child is not loaded.`);
      this.#tasks.set(rootId, { ...root, unfinishedBelow: root.unfinishedBelow + more });
      this.dirtyTasks.add(rootId);
    }
  }

  #countRoots({ conversationId }: TaskRecord, more: number): void {
    this.#count('unfinishedRoots', more);
    if (more === 0 || conversationId === null) return;
    const conversation = this.conversationRow(conversationId);
    if (conversation === null) throw new Error(`The conversation ${conversationId} of a task is not loaded.`);
    this.#conversations.set(conversationId, { ...conversation, unfinishedRoots: conversation.unfinishedRoots + more });
    this.dirtyConversations.add(conversationId);
  }

  #count(what: 'unfinishedRoots' | 'pendingQuestions', more: number): void {
    if (more !== 0) this.log = { ...this.log, [what]: this.log[what] + more };
  }

  #journal(taskId: string): Map<string, JournalRow> {
    const journal = this.#rows.get(taskId) ?? new Map<string, JournalRow>();
    this.#rows.set(taskId, journal);
    return journal;
  }
}

function unfinished(task: TaskRecord | null): number {
  return task === null || isTerminal(task.status) ? 0 : 1;
}

function pending(question: QuestionRecord | null): number {
  return question?.resolution === null ? 1 : 0;
}

/** Tells the rows of all journals apart. */
export function rowId({ taskId, key }: RowKey): string {
  return `${taskId} ${key}`;
}
