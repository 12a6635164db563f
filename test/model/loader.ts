import type { needsOf } from '../../src/model/batch.ts';
import type { ConversationRecord } from '../../src/model/conversation.ts';
import type { JournalRow, RowKey } from '../../src/model/journal.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { untaken } from '../../src/model/turn.ts';
import { rowId, type View } from '../../src/model/view.ts';
import type { Table } from './table.ts';

type Loaded = Parameters<View['load']>[0];

/** Reads what a view is filled with, as `Needs` says it and not a record more. */
export class Loader {
  readonly #table: Table;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #questions = new Map<string, QuestionRecord>();
  readonly #conversations = new Map<string, ConversationRecord>();
  readonly #rows = new Map<string, JournalRow>();
  readonly #texts = new Map<string, string>();

  constructor(table: Table) {
    this.#table = table;
  }

  everything(): Loaded {
    const { tasks, questions, conversations, rows, keys } = this.#table;
    for (const row of rows.values()) this.#text(row);
    return {
      ...{ tasks: tasks.values(), questions: questions.values(), rows: rows.values() },
      conversations: conversations.values(),
      ...{ texts: this.#texts, keys: keys.values() },
    };
  }

  needed(needs: ReturnType<typeof needsOf>): Loaded {
    for (const id of needs.tasks) this.#task(id);
    for (const id of needs.trees) this.#treeAndParent(id);
    for (const id of needs.pending) this.#pending(id);
    for (const id of needs.questions) this.#question(id);
    for (const id of needs.lanes) this.#lane(id);
    for (const key of needs.rows) this.#row(key);
    for (const id of needs.journals) this.#journal(id);
    for (const spawn of needs.formerChildren) this.#formerChild(spawn);
    for (const id of needs.conversations) this.#conversation(id);
    for (const id of needs.gatherings) this.#gathering(id);
    for (const id of needs.firstTurns) this.#firstTurn(id);
    for (const id of needs.histories) this.#task(id);
    return {
      tasks: [...this.#tasks.values()].reverse(),
      questions: [...this.#questions.values()].reverse(),
      conversations: this.#conversations.values(),
      rows: [...this.#rows.values()].reverse(),
      texts: this.#texts,
      keys: needs.keys.flatMap((key) => this.#table.keys.get(key) ?? []),
    };
  }

  #task(id: string): TaskRecord | null {
    const task = this.#table.tasks.get(id);
    if (task === undefined) return null;
    if (this.#tasks.has(id)) return task;
    this.#tasks.set(id, task);
    this.#task(task.rootId);
    if (task.conversationId !== null) this.#conversation(task.conversationId);
    return task;
  }

  #treeAndParent(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    this.#tree(id);
    if (task.parentId !== null) this.#row({ taskId: task.parentId, key: `${task.spawnKey}>` });
  }

  #tree(id: string): void {
    const task = this.#task(id);
    if (task === null) return;
    for (const { taskId } of untaken(task)) this.#task(taskId);
    this.#pendingQuestions(id);
    for (const row of this.#table.pendingRows(id)) {
      this.#put(row);
      this.#text(row);
    }
    for (const child of this.#table.unfinishedChildren(id)) this.#tree(child.id);
  }

  #conversation(id: string): void {
    const conversation = this.#table.conversations.get(id);
    if (conversation !== undefined) this.#conversations.set(id, conversation);
  }

  #firstTurn(id: string): void {
    this.#conversation(id);
    const turns = [...this.#table.tasks.values()].filter(
      ({ conversationId, isTurn }) => conversationId === id && isTurn,
    );
    const first = turns.find(({ finishedAt }) => finishedAt === null);
    if (first !== undefined) this.#task(first.id);
  }

  #gathering(id: string): void {
    this.#conversation(id);
    for (const task of this.#table.tasks.values()) {
      if (task.conversationId === id && task.parentId === null && task.finishedAt === null) this.#tree(task.id);
    }
  }

  #formerChild(spawn: RowKey): void {
    for (let id: string | null = spawn.taskId; id !== null; id = this.#table.tasks.get(id)?.retryOf ?? null) {
      this.#task(id);
      const newest = [...this.#table.tasks.values()].findLast(
        ({ parentId, spawnKey }) => parentId === id && spawnKey === spawn.key,
      );
      if (newest === undefined) continue;
      this.#journal(newest.id);
      return;
    }
  }

  #pending(id: string): void {
    if (this.#task(id) === null) return;
    this.#pendingQuestions(id);
    for (const row of this.#table.pendingRows(id)) this.#put(row);
  }

  #pendingQuestions(taskId: string): void {
    for (const question of this.#table.pendingQuestions(taskId)) this.#questions.set(question.id, question);
  }

  #question(id: string): void {
    const question = this.#table.questions.get(id);
    if (question === undefined) return;
    this.#questions.set(id, question);
    this.#row({ taskId: question.taskId, key: question.name });
  }

  #lane(id: string): void {
    const lane = this.#task(id)?.lane ?? null;
    if (lane === null) return;
    const others = [...this.#table.tasks.values()].filter((task) => task.lane === lane);
    const first = others.find(({ isTurn, finishedAt }) => isTurn && finishedAt === null);
    for (const task of others) if (task.held || task === first) this.#task(task.id);
  }

  #row(key: RowKey): void {
    const row = this.#table.rows.get(rowId(key));
    if (row === undefined) return;
    this.#put(row);
    this.#task(row.taskId);
  }

  #journal(id: string): void {
    if (this.#task(id) === null) return;
    this.#pendingQuestions(id);
    for (const row of this.#table.journal(id)) this.#put(row);
  }

  #put(row: JournalRow): void {
    this.#rows.set(rowId(row), row);
  }

  #text({ message }: JournalRow): void {
    if (message === null) return;
    const after = this.#table.events.filter(({ seq, type }) => seq > message.afterSeq && type === 'message.delta');
    const own = after.map(({ data }) => JSON.parse(data)).filter(({ messageId }) => messageId === message.id);
    this.#texts.set(message.id, own.map(({ text }) => text).join(''));
  }
}
