import type { Entry } from '../../client/index.ts';

/** What belongs together on the page: what somebody wrote, and what a turn made of it. */
export interface TurnGroup {
  key: string;
  /** The turn; null while the server has not taken the message. */
  taskId: string | null;
  entries: readonly Entry[];
}

/**
 * Puts entries into groups, in their order. A message begins a group, and so does what another turn says. What is of no
 * turn, such as the steps of a child, belongs to what is before it.
 */
export function groupTurns(entries: readonly Entry[]): TurnGroup[] {
  const turns = new Set(entries.flatMap((entry) => (entry.kind === 'message' ? entry.message.taskId : [])));
  const groups: { key: string; taskId: string | null; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const taskId = taskOf(entry);
    const last = groups.at(-1);
    const isOther = taskId !== null && turns.has(taskId) && taskId !== last?.taskId;
    if (last === undefined || isWritten(entry) || isOther) groups.push({ key: entry.key, taskId, entries: [entry] });
    else last.entries.push(entry);
  }
  return groups;
}

/** Whether a group looks as it did: the same entries under the same turn. */
export function isSameGroup(a: TurnGroup, b: TurnGroup): boolean {
  return (
    a.taskId === b.taskId &&
    a.entries.length === b.entries.length &&
    a.entries.every((entry, index) => entry === b.entries[index])
  );
}

function isWritten(entry: Entry): boolean {
  return entry.kind === 'outgoing' || (entry.kind === 'message' && entry.message.role === 'user');
}

function taskOf(entry: Entry): string | null {
  switch (entry.kind) {
    case 'message':
      return entry.message.taskId;
    case 'question':
      return entry.question.taskId;
    case 'outgoing':
      return null;
    default:
      return entry.taskId;
  }
}
