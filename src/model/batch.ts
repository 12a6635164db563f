import type { Event, NewEvent } from './event.ts';
import type { KeyResolution, RowKey } from './journal.ts';
import type { QuestionRecord } from './question.ts';
import type { TaskRecord } from './task.ts';
import { type Decision, type Outcome, refuse, type Verb } from './verb.ts';
import { addToInbox } from './verbs/add-to-inbox.ts';
import { answerQuestion } from './verbs/answer-question.ts';
import { appendEvents } from './verbs/append-events.ts';
import { askQuestion } from './verbs/ask-question.ts';
import { cancelTask } from './verbs/cancel-task.ts';
import { claimTask } from './verbs/claim-task.ts';
import { createConversation } from './verbs/create-conversation.ts';
import { createTask } from './verbs/create-task.ts';
import { declineQuestion } from './verbs/decline-question.ts';
import { deleteConversation } from './verbs/delete-conversation.ts';
import { expireQuestion } from './verbs/expire-question.ts';
import { failTask } from './verbs/fail-task.ts';
import { finishTask } from './verbs/finish-task.ts';
import { fireTimer } from './verbs/fire-timer.ts';
import { postMessage } from './verbs/post-message.ts';
import { pruneTask } from './verbs/prune-task.ts';
import { purgeConversation } from './verbs/purge-conversation.ts';
import { readHistory } from './verbs/read-history.ts';
import { readyTask } from './verbs/ready-task.ts';
import { releaseTask } from './verbs/release-task.ts';
import { requeueTask } from './verbs/requeue-task.ts';
import { retryTask } from './verbs/retry-task.ts';
import { settleStep } from './verbs/settle-step.ts';
import { spawnTask } from './verbs/spawn-task.ts';
import { startStep } from './verbs/start-step.ts';
import { startTimer } from './verbs/start-timer.ts';
import { takeInbox } from './verbs/take-inbox.ts';
import { updateConversation } from './verbs/update-conversation.ts';
import { waitTask } from './verbs/wait-task.ts';
import { wakeTask } from './verbs/wake-task.ts';
import { withdrawQuestion } from './verbs/withdraw-question.ts';
import { type KeyRecord, type Needs, rowId, type View } from './view.ts';

const VERBS = {
  addToInbox,
  answerQuestion,
  appendEvents,
  askQuestion,
  cancelTask,
  claimTask,
  createConversation,
  createTask,
  declineQuestion,
  deleteConversation,
  expireQuestion,
  failTask,
  finishTask,
  fireTimer,
  postMessage,
  pruneTask,
  purgeConversation,
  readHistory,
  readyTask,
  releaseTask,
  requeueTask,
  retryTask,
  settleStep,
  spawnTask,
  startStep,
  startTimer,
  takeInbox,
  updateConversation,
  waitTask,
  wakeTask,
  withdrawQuestion,
};

type Verbs = typeof VERBS;
export type VerbName = keyof Verbs;
type ArgsOf<Name extends VerbName> = Verbs[Name] extends Verb<infer Args, infer _> ? Args : never;
export type ResultOf<Name extends VerbName> = Verbs[Name] extends Verb<infer _, infer Result> ? Result : never;

/** An Idempotency-Key and the request that it stands for. */
export type KeyUse = Pick<KeyRecord, 'key' | 'fingerprint'>;

/** A verb as data: it travels to the writer's thread. */
export type VerbCall<Name extends VerbName = VerbName> = {
  [N in Name]: { verb: N; args: ArgsOf<N>; idempotency?: KeyUse };
}[Name];

/** The outcomes of a list of calls, in their order. */
export type OutcomesOf<Calls extends readonly VerbCall[]> = {
  -readonly [I in keyof Calls]: Outcome<ResultOf<Calls[I]['verb']>>;
};

/** What one transaction over one owner's log came to. */
export interface Batch {
  /** Epoch ms by the store's clock. */
  now: number;
  /** The epoch under which `events` were written. */
  epoch: string;
  /** The seq of the first of `events`, which follow each other without gaps; head + 1 when there are none. */
  firstSeq: number;
  events: Event[];
  /** How many of the events each call has written. */
  eventCounts: number[];
  outcomes: Outcome<unknown>[];
  /** With the index of the call that each came from, ascending. */
  resolutions: (KeyResolution & { call: number })[];
  /**
   * By call: the place of the newest resolution of the task that the call is of, before the call; null for a call of none.
   * Who was told of less has something to learn from others.
   */
  ords: (number | null)[];
  /** The earliest deadline, end of a sleep or time to begin that the batch has set, in epoch ms; null when it set none. */
  dueAt: number | null;
}

/** How long a key stands for its request. @see docs/protocol.md §2 */
export const KEY_LIFETIME_MS = 24 * 60 * 60_000;

/** Everything that the calls must find loaded. */
export function needsOf(calls: readonly VerbCall[]): Required<Needs> & { keys: string[] } {
  const needs = calls.map((call) => verbOf(call).needs(call.args));
  return {
    tasks: unique(needs.flatMap(({ tasks }) => tasks ?? [])),
    trees: unique(needs.flatMap(({ trees }) => trees ?? [])),
    pending: unique(needs.flatMap(({ pending }) => pending ?? [])),
    questions: unique(needs.flatMap(({ questions }) => questions ?? [])),
    lanes: unique(needs.flatMap(({ lanes }) => lanes ?? [])),
    rows: uniqueRows(needs.flatMap(({ rows }) => rows ?? [])),
    journals: unique(needs.flatMap(({ journals }) => journals ?? [])),
    formerChildren: uniqueRows(needs.flatMap(({ formerChildren }) => formerChildren ?? [])),
    conversations: unique(needs.flatMap(({ conversations }) => conversations ?? [])),
    gatherings: unique(needs.flatMap(({ gatherings }) => gatherings ?? [])),
    firstTurns: unique(needs.flatMap(({ firstTurns }) => firstTurns ?? [])),
    histories: unique(needs.flatMap(({ histories }) => histories ?? [])),
    keys: unique(calls.flatMap(({ idempotency }) => idempotency?.key ?? [])),
  };
}

/**
 * Decides the calls one after the other over the loaded view and gives their events places in the log. Afterwards the
 * view's dirty records and the batch's events are what the engine must write.
 *
 * @param epoch the running epoch; it becomes the log's with the first event written under it
 */
export function decideBatch(view: View, calls: readonly VerbCall[], epoch: string, now: number): Batch {
  const firstSeq = view.log.head + 1;
  const batch: Batch = {
    now,
    epoch,
    firstSeq,
    events: [],
    eventCounts: [],
    outcomes: [],
    resolutions: [],
    ords: [],
    dueAt: null,
  };
  for (const [index, call] of calls.entries()) {
    batch.ords.push(ordOf(view, call));
    const before = doneBefore(view, call, now);
    if (before !== null) {
      batch.outcomes.push(before);
      batch.eventCounts.push(0);
      continue;
    }
    const decision = verbOf(call).decide(view, call.args, now);
    view.apply(decision.changes);
    batch.events.push(...place(view, decision.events, epoch, now));
    batch.resolutions.push(...decision.resolutions.map((resolution) => ({ ...resolution, call: index })));
    batch.eventCounts.push(decision.events.length);
    batch.outcomes.push(conclude(view, call, decision, now));
    batch.dueAt = earliest(batch.dueAt, decision);
  }
  return batch;
}

function ordOf(view: View, { args }: VerbCall): number | null {
  return 'taskId' in args ? (view.task(args.taskId)?.ord ?? null) : null;
}

/** What an earlier request with the same Idempotency-Key came to; null when the call has none, or is the first with it. */
function doneBefore(view: View, { idempotency }: VerbCall, now: number): Outcome<unknown> | null {
  if (idempotency === undefined) return null;
  const known = view.idempotencyKey(idempotency.key);
  if (known === null || now - known.at >= KEY_LIFETIME_MS) return null;
  if (known.fingerprint !== idempotency.fingerprint) {
    return refuse('idempotency_mismatch', 'This Idempotency-Key was used for another request.').outcome;
  }
  return { ok: true, result: JSON.parse(known.result), replayed: true };
}

/** Gives events the next seqs, counts them, and moves their tasks' and roots' newest seqs with them. */
function place(view: View, events: readonly NewEvent[], epoch: string, now: number): Event[] {
  if (events.length === 0) return [];
  const spans = new Map<string, Span>();
  const spanOf = (id: string, seq: number): Span => {
    const span = spans.get(id) ?? { first: seq, last: seq, count: 0, length: 0 };
    spans.set(id, span);
    return span;
  };
  let seq = view.log.head;
  let run: { taskId: string; rootId: string; conversationId: string | null; own: Span; root: Span } | null = null;
  const placed: Event[] = [];
  for (const event of events) {
    const { taskId, type, step, data } = event;
    seq += 1;
    if (taskId === null) {
      placed.push({ ...event, seq, at: now, rootId: null });
      continue;
    }
    if (run === null || run.taskId !== taskId) {
      const { rootId, conversationId } = loadedTask(view, taskId);
      run = { taskId, rootId, conversationId, own: spanOf(taskId, seq), root: spanOf(rootId, seq) };
    }
    run.own.last = seq;
    run.own.count += 1;
    run.own.length += data.length;
    run.root.last = seq;
    // Written out: a spread is many times as slow, and this is where every event passes.
    const { rootId, conversationId } = run;
    placed.push({ taskId, conversationId, type, step, data, seq, at: now, rootId });
    if (type === 'message.delta') view.addDelta(data);
  }
  view.log = { ...view.log, head: seq, epoch };
  for (const [id, { first, last, count, length }] of spans) {
    const task = loadedTask(view, id);
    const firstSeq = task.firstSeq === 0 ? first : task.firstSeq;
    const eventCount = task.eventCount + count;
    view.apply({
      tasks: [{ ...task, firstSeq, lastSeq: last, eventCount, eventsLength: task.eventsLength + length }],
    });
  }
  return placed;
}

/** The first and the newest of the events that were placed for a task, and how much of them is its own. */
interface Span {
  first: number;
  last: number;
  count: number;
  length: number;
}

function loadedTask(view: View, taskId: string): TaskRecord {
  const task = view.task(taskId);
  if (task === null) throw new Error(`An event of ${taskId}, which is not loaded.`);
  return task;
}

/** A result shows its task or question as they are after the verb's events were placed, and a key keeps it so. */
function conclude(
  view: View,
  { idempotency }: VerbCall,
  { outcome }: Decision<unknown>,
  now: number,
): Outcome<unknown> {
  if (!outcome.ok) return outcome;
  const result = refreshed(view, outcome.result);
  if (idempotency !== undefined) view.applyKey({ ...idempotency, result: JSON.stringify(result), at: now });
  return { ...outcome, result };
}

function refreshed(view: View, result: unknown): unknown {
  if (result === null || typeof result !== 'object' || !('task' in result)) return result;
  const { id } = (result as { task: TaskRecord }).task;
  return { ...result, task: view.task(id) };
}

function earliest(dueAt: number | null, { changes }: Decision<unknown>): number | null {
  const times = [
    ...(changes.tasks ?? []).flatMap(({ deadlineAt, runAt }) => [deadlineAt, runAt]),
    ...(changes.questions ?? []).map(openUntil),
    ...(changes.rows ?? []).map(({ dueAt }) => dueAt),
  ];
  return times.reduce((least, at) => (least === null || (at !== null && at < least) ? at : least), dueAt);
}

function openUntil({ resolution, expiresAt }: QuestionRecord): number | null {
  return resolution === null ? expiresAt : null;
}

/** The one place where a call's name and its arguments, which belong together by {@link VerbCall}, are taken apart. */
function verbOf(call: VerbCall): Verb<VerbCall['args'], unknown> {
  return VERBS[call.verb] as Verb<VerbCall['args'], unknown>;
}

function unique<T>(values: T[]): T[] {
  return [...new Set(values)];
}

function uniqueRows(rows: readonly RowKey[]): RowKey[] {
  return [...new Map(rows.map(({ taskId, key }) => [rowId({ taskId, key }), { taskId, key }])).values()];
}
