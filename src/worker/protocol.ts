import type { MessagePort } from 'node:worker_threads';
import type { Issue } from '../model/error.ts';
import type { Lease } from '../model/fence.ts';
import type { Cut, JournalRow, KeyResolution } from '../model/journal.ts';
import type { Json } from '../model/json.ts';
import type { TaskError } from '../model/task-error.ts';
import type { AppendEventsArgs } from '../model/verbs/append-events.ts';
import type { AskQuestionArgs } from '../model/verbs/ask-question.ts';
import type { ReadHistoryArgs } from '../model/verbs/read-history.ts';
import type { SettleStepArgs } from '../model/verbs/settle-step.ts';
import type { SpawnTaskArgs } from '../model/verbs/spawn-task.ts';
import type { StartStepArgs } from '../model/verbs/start-step.ts';
import type { StartTimerArgs } from '../model/verbs/start-timer.ts';
import type { TakeInboxArgs } from '../model/verbs/take-inbox.ts';
import type { WaitTaskArgs } from '../model/verbs/wait-task.ts';
import type { WithdrawQuestionArgs } from '../model/verbs/withdraw-question.ts';
import type { ThreadMemory } from './thread-memory.ts';

/** What a key came to, told to the copy of the task that asked. */
export type Told = Omit<KeyResolution, 'taskId'>;

/** A row of the journal as a copy is given it. */
export type StartRow = Pick<
  JournalRow,
  'key' | 'kind' | 'status' | 'value' | 'askedAt' | 'ord' | 'emitsDone' | 'at' | 'tries' | 'once'
>;

/** Why a copy is no longer wanted. `parked`: it waits, and its memory is worth more. */
export type DropReason = 'lost' | 'cancelled' | 'timeout' | 'parked';

/**
 * Main thread → worker, in batches (arrays), in the order of the commits. All but the last three name a copy of a task by
 * `taskId`; one with another `fence` than the copy's is for a copy that is gone.
 */
export type Command =
  /**
   * Begin, or go on from the journal: `rows` and `emits` as the claim's transaction saw them. `input` has not been parsed
   * by the agent's schema yet. `seed`, `originAt`: see {@link TaskHandle.random}. `index`: which of the thread's copies it
   * is, for whose doing is whose; the pool gives it.
   */
  | {
      kind: 'start';
      taskId: string;
      fence: number;
      agent: string;
      attempt: number;
      version: string;
      conversationId: string | null;
      input: Json;
      seed: string;
      originAt: number;
      emits: number;
      marks: readonly string[];
      rows: readonly StartRow[];
      index?: number;
    }
  /** All reports of the copy up to number `n` are on disk. */
  | { kind: 'ack'; taskId: string; fence: number; n: number }
  /** The answer to a `wait`, in place of its ack. */
  | { kind: 'waited'; taskId: string; fence: number; n: number; answer: 'waiting' | 'already' }
  /** Keys that were resolved, by the copy's own reports too, each before the ack of the report; for a running copy. */
  | { kind: 'resolve'; taskId: string; fence: number; resolutions: Told[] }
  /** A waiting copy has been claimed again, under `fence`, and learns what was resolved meanwhile. */
  | { kind: 'adopt'; taskId: string; fence: number; resolutions: Told[] }
  /** The task is no longer this copy's: abort its signal, and never hear of it again but for `released`. */
  | { kind: 'drop'; taskId: string; fence: number; reason: DropReason }
  | { kind: 'validate'; id: number; agent: string; input: Json }
  | { kind: 'ping'; id: number }
  | { kind: 'stop' };

/**
 * Worker → main thread, in batches. Those with `n` are numbered 1, 2, 3 … within a copy and commit in that order. Each of
 * them is answered, the last one too, by an `ack` or `waited`, or all of a copy by a `drop`: the worker's credit comes
 * back with it.
 */
export type Report =
  | { kind: 'ready'; agents: AgentSummary[] }
  | ({ taskId: string; fence: number; n: number } & CopyReport)
  /** A copy that waits has work again though no key of its was resolved: it needs a claim. Not numbered. */
  | { kind: 'wake'; taskId: string; fence: number }
  /** No code of a dropped copy runs any more, as far as its thread can tell. Not numbered, once for each `drop`. */
  | { kind: 'released'; taskId: string; fence: number }
  | { kind: 'validated'; id: number; issues: Issue[] | null }
  /** An agent threw, and where: for the server's log, never for a client. What no task or no agent did has '' for it. */
  | { kind: 'thrown'; taskId: string; agent: string; stack: string }
  /**
   * A copy's code threw where nobody can catch it: its attempt has failed, the thread lives on. Not numbered, once for each.
   * `cut`: where the journal is taken back to; null keeps it whole.
   */
  | { kind: 'fault'; taskId: string; fence: number; error: TaskError; cut: Cut | null; stack: string }
  | ({ kind: 'pong'; id: number } & ThreadMemory);

/** What a copy of a task reports of itself; each becomes one verb. */
export type CopyReport =
  | ReportOf<'append', AppendEventsArgs>
  | ReportOf<'startStep', StartStepArgs>
  | ReportOf<'settleStep', SettleStepArgs>
  | ReportOf<'ask', AskQuestionArgs>
  | ReportOf<'sleep', StartTimerArgs>
  | ReportOf<'inbox', TakeInboxArgs>
  | ReportOf<'history', ReadHistoryArgs>
  | ReportOf<'spawn', SpawnTaskArgs>
  | ReportOf<'withdraw', WithdrawQuestionArgs>
  /** At rest with nothing but these keys to wait for. */
  | ReportOf<'wait', WaitTaskArgs>
  | {
      kind: 'end';
      ending: { status: 'completed'; output: Json } | { status: 'failed'; error: TaskError; cut: Cut | null };
    };

/** The arguments of a verb but for the copy's claim, which is beside them. */
type ReportOf<Kind extends string, Args extends Lease> = { kind: Kind } & Omit<Args, keyof Lease>;

/** An agent as its thread found it in the module. */
export interface AgentSummary {
  name: string;
  description: string;
  version: string;
  /** JSON Schema, null where the input schema cannot give one. */
  inputSchema: Json;
}

/** What a thread is given when it starts, as `workerData`. */
export interface ThreadOptions {
  /** `file:` URLs of the modules that export the agents. */
  agentModules: string[];
  /** Its end of the channel to the main thread. */
  port: MessagePort;
  /** Where it shows whose code runs, shared with the main thread. */
  runner: Int32Array;
  /** How much it may hold, heap and Buffers together. */
  memoryBytes: number;
}

/** At most so many events of a worker may be on their way to the disk; the rest wait in the worker. */
export const MAX_UNACKNOWLEDGED_EVENTS = 500;
/** At most so many events go into one batch of reports. */
export const MAX_BATCH_EVENTS = 250;
/** And at most so many code units of JSON, unless a single report is longer. */
export const MAX_BATCH_LENGTH = 1024 * 1024;
/** So many code units of a worker may be on their way to the disk, unless a single report is longer. */
export const MAX_UNACKNOWLEDGED_LENGTH = 4 * 1024 * 1024;
