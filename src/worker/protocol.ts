import type { MessagePort } from 'node:worker_threads';
import type { Issue } from '../model/error.ts';
import type { Lease } from '../model/fence.ts';
import type { Json } from '../model/json.ts';
import type { TaskError } from '../model/task-error.ts';
import type { ResolvedOutcome } from '../model/verb.ts';
import type { AppendEventsArgs } from '../model/verbs/append-events.ts';
import type { AskQuestionArgs } from '../model/verbs/ask-question.ts';
import type { SettleStepArgs } from '../model/verbs/settle-step.ts';
import type { StartStepArgs } from '../model/verbs/start-step.ts';
import type { StartTimerArgs } from '../model/verbs/start-timer.ts';
import type { WaitTaskArgs } from '../model/verbs/wait-task.ts';
import type { WithdrawQuestionArgs } from '../model/verbs/withdraw-question.ts';

/** What a key came to, told to the copy of the task that asked. */
export interface Told {
  key: string;
  outcome: ResolvedOutcome;
}

/**
 * Main thread → worker, in batches (arrays). All but the last four name a copy of a task by `taskId`; one with another
 * `fence` than the copy's is for a copy that is gone.
 */
export type Command =
  /** Begin: `input` has not been parsed by the agent's schema yet. `seed`, `originAt`: see {@link TaskHandle.random}. */
  | {
      kind: 'start';
      taskId: string;
      fence: number;
      agent: string;
      attempt: number;
      version: string;
      input: Json;
      seed: string;
      originAt: number;
    }
  /** All reports of the copy up to number `n` are on disk, at `at` (epoch ms). */
  | { kind: 'ack'; taskId: string; fence: number; n: number; at: number }
  /** The answer to a `wait`, in place of its ack. */
  | { kind: 'waited'; taskId: string; fence: number; n: number; at: number; answer: 'waiting' | 'already' }
  /** Keys that were resolved from outside, in the order of their commits; for a running copy. */
  | { kind: 'resolve'; taskId: string; fence: number; at: number; resolutions: Told[] }
  /** A waiting copy has been claimed again, under `fence`, and learns what was resolved meanwhile. */
  | { kind: 'adopt'; taskId: string; fence: number; at: number; resolutions: Told[] }
  /** The task is no longer this copy's: abort its signal, and never hear of it again. `reason` is for the signal. */
  | { kind: 'drop'; taskId: string; fence: number; reason: 'lost' | 'cancelled' | 'timeout' }
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
  | { kind: 'validated'; id: number; issues: Issue[] | null }
  /** An agent threw, and where: for the server's log, never for a client. */
  | { kind: 'thrown'; taskId: string; agent: string; stack: string }
  | { kind: 'pong'; id: number };

/** What a copy of a task reports of itself; each but `wait` becomes one verb. */
export type CopyReport =
  | ReportOf<'append', AppendEventsArgs>
  | ReportOf<'startStep', StartStepArgs>
  | ReportOf<'settleStep', SettleStepArgs>
  | ReportOf<'ask', AskQuestionArgs>
  | ReportOf<'sleep', StartTimerArgs>
  | ReportOf<'withdraw', WithdrawQuestionArgs>
  /** At rest with nothing but these keys to wait for. */
  | ReportOf<'wait', WaitTaskArgs>
  | { kind: 'end'; ending: { status: 'completed'; output: Json } | { status: 'failed'; error: TaskError } };

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
}

/** At most so many events of a worker may be on their way to the disk; the rest wait in the worker. */
export const MAX_UNACKNOWLEDGED_EVENTS = 500;
/** At most so many events go into one batch of reports. */
export const MAX_BATCH_EVENTS = 250;
