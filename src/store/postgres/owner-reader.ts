import type { Turn } from '../../model/agent.ts';
import type { needsOf } from '../../model/batch.ts';
import type { ConversationRecord } from '../../model/conversation.ts';
import type { EventData } from '../../model/event.ts';
import type { JournalRow, RowKey } from '../../model/journal.ts';
import { turnLane } from '../../model/lane.ts';
import type { QuestionRecord } from '../../model/question.ts';
import { untaken } from '../../model/turn.ts';
import type { KeyRecord } from '../../model/view.ts';
import type { Queueing } from '../offered.ts';
import { type ConversationRead, toConversation } from './conversation-row.ts';
import { fromText, toText } from './escape.ts';
import { toRow } from './journal-row.ts';
import type { Link } from './link.ts';
import * as select from './load-statements.ts';
import type { Loners } from './loners.ts';
import { toQuestion } from './question-row.ts';
import { readHistory } from './read-history.ts';
import type { Statement, Value } from './statement.ts';
import { type TaskRead, toTask } from './task-row.ts';

/** A task as it was before a batch. */
export interface StoredTask extends Queueing {
  key: number;
}

interface StoredConversation {
  key: number;
  record: ConversationRecord;
}

type OwnerNeeds = ReturnType<typeof needsOf>;

/** Reads one owner's rows for one batch, each task once. */
export class OwnerReader {
  /** By id. */
  readonly tasks = new Map<string, StoredTask>();
  readonly questions: QuestionRecord[] = [];
  /** By id. */
  readonly conversations = new Map<string, StoredConversation>();
  readonly rows: JournalRow[] = [];
  readonly texts = new Map<string, string>();
  readonly histories: [taskId: string, turns: Turn[]][] = [];
  readonly keys: KeyRecord[] = [];
  readonly #link: Link;
  readonly #owner: string;
  readonly #needs: OwnerNeeds;
  readonly #loners: Loners;
  /** Ids of tasks and conversations that were asked for, whether there are any or not. */
  readonly #asked = new Set<string>();
  /** Ids of tasks whose trees are loaded, as far as they are known. */
  readonly #trees = new Set<string>();
  #gathered: string[] = [];

  constructor(link: Link, owner: string, needs: OwnerNeeds, loners: Loners) {
    this.#link = link;
    this.#owner = owner;
    this.#needs = needs;
    this.#loners = loners;
  }

  /** Sends, before it first awaits anything, what brings all that most verbs need. */
  async begin(): Promise<void> {
    const { tasks, trees, pending, questions, lanes, rows, journals, formerChildren, histories, keys } = this.#needs;
    const { conversations, gatherings, firstTurns } = this.#needs;
    const rowsOf = [...rows, ...formerChildren].map(({ taskId }) => taskId);
    const named = [...new Set([...tasks, ...trees, ...pending, ...lanes, ...journals, ...histories, ...rowsOf])];
    await Promise.all([
      this.#readTasks(named),
      this.#readTrees(trees, [...pending, ...journals], pending),
      this.#readConversations(
        [...conversations, ...gatherings, ...firstTurns],
        named.filter((id) => !this.#loners.has(id)),
        questions,
      ),
      this.#addTasks(select.TASKS_OF_QUESTIONS, questions),
      this.#addTasks(select.IN_LANES, lanes),
      this.#addTasks(select.FIRST_TURNS, firstTurns.map(turnLane)),
      this.#readNewestChildren(formerChildren),
      this.#readUnfinishedRoots(gatherings),
      this.#addQuestions(select.QUESTIONS, questions),
      this.#addRows(select.JOURNALS, journals),
      this.#addRows(select.ROWS_OF_QUESTIONS, questions),
      this.#addRows(select.ROWS, taskIds(rows), keysOf(rows)),
      this.#readKeys(keys),
    ]);
  }

  /** Reads what can be asked for only now that the rest is known: mostly nothing. */
  async complete(): Promise<void> {
    for (const spawn of this.#needs.formerChildren) await this.#readFormerChild(spawn);
    if (this.#gathered.length > 0) {
      await Promise.all([this.#readTasks(this.#gathered), this.#readTrees(this.#gathered, [], [])]);
    }
    for (const id of this.#needs.histories) await this.#readHistory(id);
    for (;;) {
      const tasks = [...this.tasks.values()].flatMap((task) => this.#belonging(task));
      const conversations = [...this.tasks.values()].flatMap(({ record }) => record.conversationId ?? []);
      const missing = tasks.filter((id) => !this.tasks.has(id) && !this.#asked.has(id));
      const unknown = conversations.filter((id) => !this.conversations.has(id) && !this.#asked.has(id));
      if (missing.length + unknown.length === 0) return;
      await Promise.all([this.#readTasks(missing), this.#readConversations(unknown, missing, [])]);
    }
  }

  /** A child's events move its root's newest seq. A task that ends lets the messages go that it has not taken. */
  #belonging({ record }: StoredTask): string[] {
    const turns = this.#trees.has(record.id) ? untaken(record).map(({ taskId }) => taskId) : [];
    return [record.rootId, ...turns];
  }

  async #readTasks(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#asked.add(id);
    await this.#addTasks(select.TASKS, ids);
  }

  /** Trees, and by themselves the pending questions and rows of other tasks. */
  async #readTrees(ids: readonly string[], questionsOf: readonly string[], rowsOf: readonly string[]): Promise<void> {
    for (const id of ids) this.#trees.add(id);
    const descend = this.#addTasks(select.TREES, ids).then((added) => {
      for (const id of added) this.#trees.add(id);
    });
    await Promise.all([
      descend,
      this.#addQuestions(select.PENDING_QUESTIONS, questionsOf, ids),
      this.#addRows(select.PENDING_ROWS, rowsOf, ids),
      this.#addRows(select.ROWS_OF_CHILDREN, ids),
      this.#readTexts(ids),
    ]);
  }

  async #readConversations(ids: readonly string[], ofTasks: readonly string[], ofQuestions: readonly string[]) {
    for (const id of ids) this.#asked.add(id);
    const read = await this.#ask<ConversationRead>(select.CONVERSATIONS, ids, ofTasks, ofQuestions);
    for (const row of read) this.conversations.set(row.id, { key: row.key, record: toConversation(row) });
  }

  async #readNewestChildren(spawns: readonly RowKey[]): Promise<void> {
    await this.#addTasks(select.NEWEST_CHILDREN, taskIds(spawns), keysOf(spawns));
  }

  /** Of the task's own children first, then of those of the tasks that it is a retry of. */
  async #readFormerChild({ taskId, key }: RowKey): Promise<void> {
    for (let parent = this.tasks.get(taskId); parent !== undefined; parent = await this.#readRetried(parent)) {
      const { id } = parent.record;
      if (id !== taskId) await this.#readNewestChildren([{ taskId: id, key }]);
      const isChild = ({ record }: StoredTask) => record.parentId === id && record.spawnKey === key;
      const children = [...this.tasks.values()].filter(isChild).sort((a, b) => b.key - a.key);
      const newest = children[0]?.record.id;
      if (newest === undefined) continue;
      await Promise.all([
        this.#addRows(select.JOURNALS, [newest]),
        this.#addQuestions(select.PENDING_QUESTIONS, [newest], []),
      ]);
      return;
    }
  }

  async #readRetried({ record }: StoredTask): Promise<StoredTask | undefined> {
    if (record.retryOf === null) return undefined;
    if (!this.tasks.has(record.retryOf)) await this.#readTasks([record.retryOf]);
    return this.tasks.get(record.retryOf);
  }

  async #readUnfinishedRoots(conversationIds: readonly string[]): Promise<void> {
    const roots = await this.#ask<{ id: string }>(select.UNFINISHED_ROOTS, conversationIds);
    this.#gathered = roots.map(({ id }) => id);
  }

  async #readHistory(id: string): Promise<void> {
    const task = this.tasks.get(id);
    if (task === undefined || task.record.conversationId === null) return;
    const retried = new Set<string>();
    for (let former = await this.#readRetried(task); former !== undefined; former = await this.#readRetried(former))
      retried.add(former.record.id);
    const turns = await readHistory(this.#link, this.#owner, task.record.conversationId, task.key, retried);
    this.histories.push([id, turns]);
  }

  async #readTexts(ids: readonly string[]): Promise<void> {
    for (const { messageId, data } of await this.#ask<{ messageId: string; data: string }>(select.DELTAS, ids)) {
      const delta: EventData['message.delta'] = JSON.parse(data);
      if (delta.messageId === messageId) this.texts.set(messageId, (this.texts.get(messageId) ?? '') + delta.text);
    }
  }

  async #readKeys(keys: readonly string[]): Promise<void> {
    const read = await this.#ask<KeyRecord>(select.KEYS, keys.map(toText));
    for (const { key, fingerprint, ...rest } of read)
      this.keys.push({ key: fromText(key), fingerprint: fromText(fingerprint), ...rest });
  }

  /** @returns the ids of those that it gives */
  async #addTasks(statement: Statement<TaskRead>, ...values: (readonly string[])[]): Promise<string[]> {
    const read = await this.#ask(statement, ...values);
    for (const row of read) {
      if (row.conversationId === null) this.#loners.add(row.id);
      if (!this.tasks.has(row.id)) this.tasks.set(row.id, { key: row.key, record: toTask(row), blocked: row.blocked });
    }
    return read.map(({ id }) => id);
  }

  async #addQuestions(statement: typeof select.QUESTIONS, ...values: (readonly string[])[]): Promise<void> {
    for (const row of await this.#ask(statement, ...values)) this.questions.push(toQuestion(row));
  }

  async #addRows(statement: Statement<select.RowRead>, ...values: (readonly string[])[]): Promise<void> {
    for (const row of await this.#ask(statement, ...values)) this.rows.push(toRow(row, row.taskId));
  }

  /** Asks about something; about nothing there is nothing to ask. */
  async #ask<Row>(statement: Statement<Row>, ...values: (readonly string[])[]): Promise<readonly Row[]> {
    if (values.every(({ length }) => length === 0)) return [];
    return this.#link.ask(statement, this.#owner, ...(values as Value[]));
  }
}

function taskIds(rows: readonly RowKey[]): string[] {
  return rows.map(({ taskId }) => taskId);
}

function keysOf(rows: readonly RowKey[]): string[] {
  return rows.map(({ key }) => toText(key));
}
