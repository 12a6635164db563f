import { type NewEvent, newEvent } from './event.ts';
import { keyLane } from './lane.ts';
import type { TaskRecord } from './task.ts';

type Given =
  | 'id'
  | 'owner'
  | 'agent'
  | 'input'
  | 'metadata'
  | 'timeoutMs'
  | 'priority'
  | 'concurrencyKey'
  | 'maxAttempts';

/**
 * A task as it is put in the queue: a root with an empty journal, unless `more` says otherwise.
 *
 * @param now epoch ms
 */
export function newTask(given: Pick<TaskRecord, Given>, now: number, more: Partial<TaskRecord> = {}): TaskRecord {
  return {
    status: 'queued',
    parentId: null,
    rootId: given.id,
    conversationId: null,
    isTurn: false,
    messageCount: 0,
    lane: keyLane(given.concurrencyKey),
    spawnKey: null,
    depth: 0,
    retryOf: null,
    output: null,
    error: null,
    progress: null,
    attempt: 0,
    begins: true,
    failures: 0,
    runAt: null,
    pendingQuestionCount: 0,
    version: null,
    fence: 0,
    held: false,
    node: null,
    ord: 0,
    emits: 0,
    eventCount: 0,
    eventsLength: 0,
    unfinishedBelow: 0,
    seed: given.id,
    originAt: now,
    cut: null,
    marks: [],
    inbox: [],
    crashes: 0,
    crashMark: 0,
    aloneCrashes: 0,
    ranMs: 0,
    deadlineAt: null,
    runningSince: null,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    firstSeq: 0,
    lastSeq: 0,
    prunedSeq: 0,
    ...given,
    ...more,
  };
}

export function taskCreated({ id, agent, input, parentId, retryOf }: TaskRecord): NewEvent {
  return newEvent(id, 'task.created', { agent, input, parentId, retryOf });
}
