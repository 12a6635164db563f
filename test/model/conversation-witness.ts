import type { VerbCall } from '../../src/model/batch.ts';
import type { Json } from '../../src/model/json.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { PostMessageResult } from '../../src/model/verbs/post-message.ts';
import type { Ran, Table } from './table.ts';

type Must = (rule: string, holds: boolean) => void;

/** Watches conversations: their turns, and what was written and said in them. */
export class ConversationWitness {
  readonly #table: Table;
  readonly #must: Must;
  /** What was written, by the message's id. */
  readonly #written = new Map<string, { content: string; sentTo: string; turnId: string }>();
  /** Tasks that others were retried from: what these have taken may begin turns again. */
  readonly #retried = new Set<string>();

  constructor(table: Table, must: Must) {
    this.#table = table;
    this.#must = must;
  }

  see(call: VerbCall, { outcome }: Ran<unknown>): void {
    if (outcome.ok && !outcome.replayed && call.verb === 'postMessage') {
      const { messageId, content, taskId } = call.args;
      const { task } = outcome.result as PostMessageResult;
      this.#written.set(messageId, { content, sentTo: task.id, turnId: taskId });
    }
    if (outcome.ok && call.verb === 'retryTask') this.#retried.add(call.args.taskId);
    this.#watchTurns();
    this.#watchMessages();
    this.#watchDeleted();
  }

  #watchTurns(): void {
    const held = new Map<string, Set<string>>();
    const running = new Map<string, number>();
    for (const task of this.#table.tasks.values()) {
      const { conversationId, rootId, isTurn, status } = task;
      if (conversationId === null || !this.#table.task(rootId).isTurn) continue;
      if (task.held) held.set(conversationId, (held.get(conversationId) ?? new Set()).add(rootId));
      if (isTurn && status === 'running') running.set(conversationId, (running.get(conversationId) ?? 0) + 1);
      if (isTurn) this.#watchTurn(task);
    }
    this.#must(
      'one turn runs in a conversation',
      [...running.values()].every((count) => count === 1),
    );
    this.#must(
      'one turn and its children are held in a conversation',
      [...held.values()].every(({ size }) => size === 1),
    );
  }

  #watchTurn({ id, finishedAt, messageCount, retryOf }: TaskRecord): void {
    const said = [...this.#table.messages.values()].filter(({ taskId, role }) => taskId === id && role === 'assistant');
    this.#must('what a turn has said is counted', said.length === messageCount);
    const mayBeSilent = finishedAt === null || retryOf !== null;
    this.#must(
      'a turn that has ended has said something, then or when it was first tried',
      mayBeSilent || said.length > 0,
    );
    const begun = this.#table.told.filter(({ taskId, type }) => taskId === id && type === 'task.created');
    this.#must('a turn begins once', begun.length === 1);
  }

  #watchMessages(): void {
    for (const [id, { content, sentTo, turnId }] of this.#written) {
      const message = this.#table.messages.get(id);
      this.#must('a message is never lost', message?.content === content && message.role === 'user');
      const hasTurn = this.#table.tasks.has(turnId);
      this.#must('a message belongs to its turn', message?.taskId === (hasTurn ? turnId : sentTo));
      if (turnId !== sentTo) this.#watchSteered(id, this.#table.task(sentTo), hasTurn);
    }
    for (const { taskId, conversationId } of this.#table.messages.values()) {
      this.#must('messages are of turns', this.#table.task(taskId).isTurn);
      this.#must('a message is where its turn is', this.#table.task(taskId).conversationId === conversationId);
    }
  }

  /** It lies in the inbox, or was taken, or has begun a turn: one of them. Only an interrupted turn leaves it lying. */
  #watchSteered(id: string, turn: TaskRecord, hasTurn: boolean): void {
    if (this.#table.task(turn.rootId).prunedSeq > 0 || this.#retried.has(turn.id)) return;
    const lies = turn.inbox.filter((entry) => isMessage(entry, id)).length;
    const rows = this.#table.journal(turn.id).filter(({ kind }) => kind === 'inbox');
    const taken = rows
      .flatMap(({ value }): Json[] => JSON.parse(value ?? '[]'))
      .filter((entry) => isMessage(entry, id));
    this.#must('a steered message is taken or begins a turn, once', lies + taken.length + Number(hasTurn) === 1);
    const mayLie = turn.finishedAt === null || turn.status === 'cancelled';
    this.#must('only an interrupted turn leaves a message untaken', lies === 0 || mayLie);
  }

  #watchDeleted(): void {
    const deleted = [...this.#table.conversations.values()].filter(({ deletedAt }) => deletedAt !== null);
    for (const { id, title } of deleted) {
      const unfinished = [...this.#table.tasks.values()].filter(
        ({ conversationId, finishedAt }) => conversationId === id && finishedAt === null,
      );
      this.#must('nothing of a deleted conversation is unfinished', unfinished.length === 0 && title === null);
      const last = this.#table.told.findLast(({ conversationId }) => conversationId === id);
      this.#must('nothing follows the deletion', last?.type === 'conversation.deleted');
    }
  }
}

function isMessage(entry: Json, id: string): boolean {
  return entry !== null && typeof entry === 'object' && 'messageId' in entry && entry.messageId === id;
}
