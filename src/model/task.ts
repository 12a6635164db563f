import { z } from 'zod';
import type { Json, JsonObject } from './json.ts';
import type { TaskError } from './task-error.ts';

export const TASK_STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const DEFAULT_TASK_TIMEOUT_MS = 30 * 60_000;
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
  input: Json;
  output: Json;
  error: TaskError | null;
  progress: Progress | null;
  /** How often it has been begun: 0 while it has never run. */
  attempt: number;
  pendingQuestionCount: number;
  metadata: JsonObject;
  /** −100 to 100, higher first. */
  priority: number;
  concurrencyKey: string | null;
  /** How long it may run, not counting waits. */
  timeoutMs: number;
  /** The agent's `version` when the task first ran; null before. */
  version: string | null;
  /** Bumped by every claim; a worker's writes carry it, and an older one is refused. */
  fence: number;
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
  running: ['waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['queued', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/**
 * Moves a task to another status and keeps its clocks right: `ranMs` counts only running, `deadlineAt` exists only then.
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
  };
}

/** The wire form of a stored task; `cursorAt` mints a cursor for a seq of its owner's log. */
export function toTask(record: TaskRecord, cursorAt: (seq: number) => string): Task {
  return {
    id: record.id,
    agent: record.agent,
    status: record.status,
    conversationId: null,
    parentId: record.parentId,
    rootId: record.rootId,
    retryOf: null,
    input: record.input,
    output: record.output,
    error: record.error,
    progress: record.progress,
    attempt: record.attempt,
    pendingQuestionCount: record.pendingQuestionCount,
    metadata: record.metadata,
    priority: record.priority,
    concurrencyKey: record.concurrencyKey,
    createdAt: new Date(record.createdAt).toISOString(),
    startedAt: record.startedAt === null ? null : new Date(record.startedAt).toISOString(),
    finishedAt: record.finishedAt === null ? null : new Date(record.finishedAt).toISOString(),
    cursor: { before: cursorAt(record.firstSeq - 1), last: cursorAt(record.lastSeq) },
  };
}
