import { timeOf } from '../../client/conversation/entry-time.ts';
import type { Entry, QuestionEntry } from '../../client/index.ts';

/**
 * Puts questions that were resolved before the page was opened where they were asked. Those from before the oldest
 * message wait until that is loaded.
 *
 * @param entries oldest first
 * @param past by id, in the order in which they were asked
 */
export function withPastQuestions(
  entries: readonly Entry[],
  past: ReadonlyMap<string, QuestionEntry>,
): readonly Entry[] {
  const [oldest] = entries;
  if (past.size === 0 || oldest === undefined) return entries;
  const known = new Set(entries.map(({ key }) => key));
  const since = timeOf(oldest);
  const missing = [...past.values()].filter((entry) => !known.has(entry.key) && timeOf(entry) >= since);
  const merged: Entry[] = [];
  let next = 0;
  for (const entry of entries) {
    const at = timeOf(entry);
    for (let each = missing[next]; each !== undefined && timeOf(each) < at; each = missing[next]) {
      merged.push(each);
      next += 1;
    }
    merged.push(entry);
  }
  return missing.length === 0 ? entries : [...merged, ...missing.slice(next)];
}
