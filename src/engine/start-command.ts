import type { JournalRow } from '../model/journal.ts';
import type { TaskRecord } from '../model/task.ts';
import type { Command, StartRow } from '../worker/protocol.ts';

/** Begins the code of a task as its claim found it, or goes on with it from its journal. */
export function startCommand(task: TaskRecord, rows: readonly JournalRow[]): Extract<Command, { kind: 'start' }> {
  const { id: taskId, fence, conversationId, agent, attempt, version, input, seed, originAt, emits, marks } = task;
  return {
    kind: 'start',
    ...{ taskId, fence, conversationId, agent, attempt, version: version ?? '', input, seed, originAt, emits, marks },
    rows: rows.map(toStartRow),
  };
}

/** Only what a copy needs goes over to its thread. */
function toStartRow(row: StartRow): StartRow {
  const { key, kind, status, value, askedAt, ord, emitsDone, at, tries, once } = row;
  return { key, kind, status, value, askedAt, ord, emitsDone, at, tries, once };
}
