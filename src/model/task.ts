import { z } from 'zod';
import type { Cut } from './journal.ts';
import type { Json, JsonObject } from './json.ts';
import type { TaskError } from './task-error.ts';

export const TASK_STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const DEFAULT_TASK_TIMEOUT_MS = 30 * 60_000;
export const DEFAULT_MAX_ATTEMPTS = 1;
/** How deep children may nest below a root; one that is deeper fails at once. */
export const MAX_TASK_DEPTH = 16;
export const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The wire form of a task. @see docs/protocol.md §4 */
export const taskSchema = z.object({
  id: z.string(),
  agent: z.string(),
  status: z.enum(TASK_STATUSES),
  conversationId: z.string().nullable(),
  parentId: z.string().nullable(),
  rootId: z.string(),
  retryOf: z.string().nullable(),
  input: z.json(),
  output: z.json(),
  error: z.object({ code: z.string(), message: z.string(), truncated: z.literal(true).optional() }).nullable(),
  progress: z.object({ fraction: z.number().nullable(), note: z.string().nullable() }).nullable(),
  attempt: z.int(),
  pendingQuestionCount: z.int(),
  metadata: z.record(z.string(), z.json()),
  priority: z.int(),
  concurrencyKey: z.string().nullable(),
  timeoutMs: z.int(),
  maxAttempts: z.int(),
  runAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
  cursor: z.object({ before: z.string(), last: z.string() }),
});

export type Task = z.infer<typeof taskSchema>;

export interface Progress {
  /** 0 to 1; null when the agent cannot say. */
  fraction: number | null;
  note: string | null;
}

/** A task as it is stored. Times are epoch ms, seqs are places in the owner's log. */
export interface TaskRecord {
  id: string;
  owner: string;
  agent: string;
  status: TaskStatus;
  parentId: string | null;
  /** Its own id unless it is a child; events are found by the root. */
  rootId: string;
  /** The conversation that it belongs to, itself or by its parent; null for most. */
  conversationId: string | null;
  /** Whether it is a turn of that: begun by a message, one at a time, and what it says is stored as messages. */
  isTurn: boolean;
  /** How many messages of its were stored. Only those of a turn are. */
  messageCount: number;
  /** The key under which its parent spawned it; null for a root. */
  spawnKey: string | null;
  /** How many tasks are above it: 0 for a root. */
  depth: number;
  /** The task whose journal it began with; null for most. */
  retryOf: string | null;
  input: Json;
  output: Json;
  error: TaskError | null;
  progress: Progress | null;
  /** How often it has been begun: 0 while it has never run. */
  attempt: number;
  /** Whether the next claim begins an attempt: at first, after a failure that is retried, after its worker was lost. */
  begins: boolean;
  maxAttempts: number;
  /** How many attempts have failed; a lost process is none. */
  failures: number;
  /** Not to be claimed before, epoch ms; null when it is ready. Only while it is queued. */
  runAt: number | null;
  pendingQuestionCount: number;
  metadata: JsonObject;
  /** −100 to 100, higher first. */
  priority: number;
  concurrencyKey: string | null;
  /** The line that it stands in with others, of which one is held at a time; null when it is in none. See `lane.ts`. */
  lane: string | null;
  /** How long it may run, not counting waits. */
  timeoutMs: number;
  /** The agent's `version` when the task first ran; null before. */
  version: string | null;
  /** Bumped by every claim; a worker's writes carry it, and an older one is refused. */
  fence: number;
  /** Whether a worker may still run its code: from its claim until it rests, or has let go of a task that ended without it. */
  held: boolean;
  /** The process whose worker that is or was: of the newest claim; null before the first. */
  node: string | null;
  /** The newest place that a resolution of its journal was given. */
  ord: number;
  /** How many events its code has emitted outside steps. */
  emits: number;
  /** How many events it has, its children's not counted, and the code units of JSON in their data. */
  eventCount: number;
  eventsLength: number;
  /** Of a root, how many tasks below it have not ended, at whatever depth; 0 for a child. */
  unfinishedBelow: number;
  /** What `random`, `uuid` and idempotency keys are made of: the id of the first task of a chain of retries. */
  seed: string;
  /** When that first task was created, epoch ms. */
  originAt: number;
  /** For a failed task, where `retry` takes its journal back to; null when it is kept whole. */
  cut: Cut | null;
  /** Keys of `once` steps that had begun and whose rows are gone. */
  marks: string[];
  /** Messages that no `inbox()` has taken yet, oldest first. */
  inbox: Json[];
  /** How many times in a row the process died while it ran, without progress between. */
  crashes: number;
  /** `ord + emits` when the process died last; more since then is progress. */
  crashMark: number;
  /** How many times the process died while it ran alone in quarantine. */
  aloneCrashes: number;
  /** How long it had run before the present run began. */
  ranMs: number;
  /** When the present run must be over; null unless it is running. */
  deadlineAt: number | null;
  runningSince: number | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  /** Its first and newest event; a root's `lastSeq` covers its whole tree. */
  firstSeq: number;
  lastSeq: number;
  /** The highest seq pruned out of this task's stream; 0 when nothing was. */
  prunedSeq: number;
}

export function isTerminal(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether those who wait for a task have waited long enough: it has ended, or it waits itself. @see docs/protocol.md §4 */
export function isSettled(status: TaskStatus): boolean {
  return isTerminal(status) || status === 'waiting';
}

/** Which status may follow which. The schema repeats it as far as one row can show. */
const NEXT: Record<TaskStatus, readonly TaskStatus[]> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['queued', 'waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['queued', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/**
 * Moves a task to another status and keeps its clocks right: `ranMs` counts only running, `deadlineAt` exists only then,
 * and nothing is put off any longer.
 *
 * @throws Error when no such transition exists: a bug in a verb, never a caller's mistake
 */
export function moveTask(task: TaskRecord, to: TaskStatus, now: number): TaskRecord {
  if (!NEXT[task.status].includes(to)) throw new Error(`A ${task.status} task cannot become ${to}.`);
  const ranMs = task.runningSince === null ? task.ranMs : task.ranMs + Math.max(0, now - task.runningSince);
  const running = to === 'running';
  return {
    ...task,
    status: to,
    ranMs,
    runningSince: running ? now : null,
    deadlineAt: running ? now + Math.max(0, task.timeoutMs - ranMs) : null,
    startedAt: running ? (task.startedAt ?? now) : task.startedAt,
    finishedAt: isTerminal(to) ? now : null,
    runAt: null,
  };
}

/** The wire form of a stored task; `cursorAt` mints a cursor for a seq of its owner's log. */
export function toTask(record: TaskRecord, cursorAt: (seq: number) => string): Task {
  return {
    id: record.id,
    agent: record.agent,
    status: record.status,
    conversationId: record.conversationId,
    parentId: record.parentId,
    rootId: record.rootId,
    retryOf: record.retryOf,
    input: record.input,
    output: record.output,
    error: record.error,
    progress: record.progress,
    attempt: record.attempt,
    pendingQuestionCount: record.pendingQuestionCount,
    metadata: record.metadata,
    priority: record.priority,
    concurrencyKey: record.concurrencyKey,
    timeoutMs: record.timeoutMs,
    maxAttempts: record.maxAttempts,
    runAt: record.runAt === null ? null : new Date(record.runAt).toISOString(),
    createdAt: new Date(record.createdAt).toISOString(),
    startedAt: record.startedAt === null ? null : new Date(record.startedAt).toISOString(),
    finishedAt: record.finishedAt === null ? null : new Date(record.finishedAt).toISOString(),
    cursor: { before: cursorAt(record.firstSeq - 1), last: cursorAt(record.lastSeq) },
  };
}
