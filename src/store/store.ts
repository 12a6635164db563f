import type { Batch, OutcomesOf, VerbCall } from '../model/batch.ts';
import type { ConversationRecord } from '../model/conversation.ts';
import type { EpochRow } from '../model/epoch.ts';
import type { Event, Message } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import type { QuestionRecord, QuestionStatus } from '../model/question.ts';
import type { TaskRecord, TaskStatus } from '../model/task.ts';
import type { Cluster } from './cluster.ts';

/**
 * The narrow waist: one way to change anything, and reads that take no lock. Every engine passes
 * `test/store/store.suite.ts`.
 *
 * @see docs/decisions/010-load-decide-write.md
 */
export interface Store extends StoreReads {
  /**
   * Under which name this process claims tasks. New at every start, and whenever the database has taken the process for
   * dead.
   */
  readonly node: string;

  /** Under which epoch this process wrote last, or will write next. */
  readonly epoch: string;

  /** What several processes on one database need; null where one has it for itself. */
  readonly cluster: Cluster | null;

  /**
   * Runs verbs of one owner in one transaction, in their order. Commits of one owner in one process are decided in the
   * order of the calls, and their promises settle in that order.
   *
   * @throws StoreError `storage_full` when nothing was written for want of space, `storage_unavailable` when nothing was
   *   written since the database cannot be reached: calling again later may succeed. All commits of the owner asked for
   *   before that was known fail with it, so that none overtakes one that failed
   * @throws StoreError `storage_failed` when nothing can be written any more, and it is not known whether this was: the
   *   process must end
   */
  commit<const Calls extends readonly VerbCall[]>(owner: string, calls: Calls): Promise<Committed<Calls>>;

  /** Replaces the stored descriptions of the agents that this process has. */
  describeAgents(agents: readonly AgentDescription[]): Promise<void>;

  /** Sets who is told of what befalls the store by itself; nobody is unless this is called, and one at a time. */
  watch(watcher: StoreWatcher): void;

  /** Waits for the commits under way, then gives the files and the lock back. */
  close(): Promise<void>;
}

/** Told of what befalls a store, beside what its calls throw. */
export interface StoreWatcher {
  /** A read has found that what is stored cannot be read: the process must end, for nothing that it says can be trusted. */
  onFailed(error: StoreError): void;
  /** Another process reads on and on, and meanwhile what is written cannot be put in its place; told again with each doubling. */
  onLogHeld(bytes: number): void;
  /**
   * Other processes may have written in the logs of these owners; of any when null. Told after they have committed, soon
   * but not always: what was missed is found by {@link Cluster.heads}.
   */
  onForeign(owners: ReadonlySet<string> | null): void;
}

/** A batch whose outcomes are typed by the calls. */
export type Committed<Calls extends readonly VerbCall[] = readonly VerbCall[]> = Omit<Batch, 'outcomes'> & {
  outcomes: OutcomesOf<Calls>;
};

/**
 * Reads see every commit that was acknowledged, by this process or another. All of them are short, and hold no transaction
 * open.
 *
 * @throws StoreError `storage_unavailable` when the database cannot be reached, from every read
 */
export interface StoreReads extends Queries {
  /**
   * Runs reads in one snapshot, so that they show the same instant.
   *
   * @param ask must call all of its reads before it first awaits anything; a later one throws
   */
  snapshot<T>(ask: (reads: Queries) => Promise<T>): Promise<T>;
  /** Epoch ms by the store's clock, as near as this process knows it: to sleep by, not to judge by. */
  now(): number;
}

/** What can be read of one instant. */
export interface Queries {
  /** A task of this owner; null for another's and for none. */
  task(owner: string, id: string): Promise<TaskRecord | null>;
  question(owner: string, id: string): Promise<QuestionRecord | null>;
  /** A conversation that was not deleted. What belongs to one that was is shown by none of these reads. */
  conversation(owner: string, id: string): Promise<ConversationRecord | null>;
  /** Newest first unless `order` says otherwise. `before` continues after the last item of the page before. */
  listTasks(owner: string, filter: TaskFilter): Promise<TaskRecord[]>;
  /** The newest activity first. */
  listConversations(owner: string, filter: ConversationFilter): Promise<ConversationRecord[]>;
  /** In the order in which they came, or the other way round. */
  listMessages(owner: string, filter: MessageFilter): Promise<Message[]>;
  /** Oldest first. */
  listQuestions(owner: string, filter: QuestionFilter): Promise<QuestionRecord[]>;
  /** Where the owner's log stands, for cursors. */
  log(owner: string): Promise<LogState>;
  /** How many of the owner's tasks without a parent have not ended. */
  unfinishedRoots(owner: string): Promise<number>;
  /**
   * The next events of a scope after a place.
   *
   * @returns at most {@link EventPage} bounds; `scannedTo` moves on even where nothing passed
   */
  readEvents(owner: string, query: EventQuery): Promise<EventPage>;
  /**
   * Just before the first event of the oldest unfinished root task, of all or of a conversation; null when nothing is
   * unfinished.
   */
  unfinishedFrom(owner: string, conversationId?: string): Promise<number | null>;
  /**
   * Queued tasks that a claim may take, at most `limit`: of each owner by priority, then age. Owners take turns, the one
   * longest without a claim first. Suspects are not among them.
   *
   * @param full owners who may have none claimed now: they are passed over, and keep their turns
   * @param agents the only agents whose tasks are wanted; null for those of all
   */
  claimable(
    limit: number,
    full?: ReadonlySet<string>,
    agents?: readonly string[] | null,
  ): Promise<{ owner: string; taskId: string; agent: string }[]>;
  /** Queued tasks that a claim may take but for one thing: the process died twice in a row while they ran. Likewise. */
  suspects(limit: number): Promise<Suspect[]>;
  /** Questions, timers, delayed tasks and running tasks whose time has come, at most `limit`. */
  due(limit: number): Promise<DueItem[]>;
  /** The earliest instant at which something falls due; null when nothing will. */
  nextDueAt(): Promise<number | null>;
  /** Roots that ended longer ago than this and still have events, at most `limit`. */
  prunable(retentionMs: number, limit: number): Promise<{ owner: string; taskId: string }[]>;
  /** Deleted conversations that still have rows, at most `limit`. */
  purgeable(limit: number): Promise<{ owner: string; conversationId: string }[]>;
  /**
   * Tasks that a worker of a process which lives no more may have been running. Where one process has the database: those
   * of any, which must be asked for at its start.
   */
  orphans(limit: number): Promise<HeldTask[]>;
  /** Of those the running suspects, the one that began last first, at most `limit`. */
  newestSuspects(limit: number): Promise<HeldTask[]>;
  agents(): Promise<AgentDescription[]>;
  /** Whether a request with this Idempotency-Key was done; old keys are forgotten. */
  hasKey(owner: string, key: string): Promise<boolean>;
}

export interface AgentDescription {
  name: string;
  description: string;
  version: string;
  /** JSON Schema, or null where the agent's input schema cannot give one. */
  inputSchema: Json;
}

export interface TaskFilter {
  status?: readonly TaskStatus[];
  agent?: string;
  conversationId?: string;
  limit: number;
  order: 'asc' | 'desc';
  /** The id of the last task of the page before. */
  after?: string;
}

export interface QuestionFilter {
  status?: QuestionStatus;
  taskId?: string;
  conversationId?: string;
  limit: number;
  after?: string;
}

export interface ConversationFilter {
  limit: number;
  /** The last conversation of the page before, and when it was last active (epoch ms) as that page showed it. */
  after?: { at: number; id: string };
}

export interface MessageFilter {
  conversationId: string;
  limit: number;
  order: 'asc' | 'desc';
  after?: string;
}

export interface LogState {
  /** The newest seq; 0 for an owner who has no log yet. */
  head: number;
  prunedSeq: number;
  /** Ascending. */
  epochs: EpochRow[];
}

/** Which events of a log a reader wants: one root's tree, one child, one conversation, or all. */
export type Scope =
  | { kind: 'log' }
  | { kind: 'root'; taskId: string }
  | { kind: 'child'; taskId: string; rootId: string }
  | { kind: 'conversation'; conversationId: string };

export interface EventQuery {
  scope: Scope;
  /** Everything after this seq … */
  after: number;
  /** … up to this one, or to the head when null. */
  upTo: number | null;
  /** Only events of trees that had not ended at or before this seq; null for a plain read. */
  unfinishedAt: number | null;
  limit: number;
}

/** At most 200 events, about 256 KiB and 5,000 seqs, so that no read holds the thread for long. */
export interface EventPage {
  events: Event[];
  /** Every event of the scope up to here is in this page or before it; no higher than the head. */
  scannedTo: number;
}

/** A queued task during which the process has died at least twice in a row. */
export interface Suspect {
  owner: string;
  taskId: string;
  agent: string;
  crashes: number;
  aloneCrashes: number;
}

/** A task that a worker holds. `runningSince` is epoch ms; null when it is no longer running. */
export interface HeldTask {
  owner: string;
  taskId: string;
  fence: number;
  status: TaskStatus;
  runningSince: number | null;
}

export type DueItem =
  | { owner: string; kind: 'question'; questionId: string }
  | { owner: string; kind: 'timer'; taskId: string; key: string }
  /** A queued task whose `runAt` has come. */
  | { owner: string; kind: 'ready'; taskId: string }
  | { owner: string; kind: 'deadline'; taskId: string; fence: number; timeoutMs: number };

/** Trouble of the disk or the database, in which nothing of the batch was written. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, cause: unknown) {
    super(WORDS[code], { cause });
    this.code = code;
  }
}

export type StoreErrorCode = 'storage_full' | 'storage_unavailable' | 'storage_failed';

const WORDS: Record<StoreErrorCode, string> = {
  storage_full: 'There is no space left to write.',
  storage_unavailable: 'The database cannot be reached.',
  storage_failed: 'The database can no longer be used.',
};
