import type { Entry } from './conversation-view.ts';
import { timeOf } from './entry-time.ts';
import type { FoldState } from './fold-state.ts';

/** The entry with this key, looked for from the end, where what changes mostly is. */
export function entryOf({ entries }: FoldState, key: string): Entry | undefined {
  return entries[placeOf(entries, key)];
}

/** Puts entries that were read among the others, by their times. Those that are there already stay as they are. */
export function addRead(state: FoldState, read: readonly Entry[]): FoldState {
  const known = new Set(state.entries.map(({ key }) => key));
  const added = read.filter(({ key }) => !known.has(key));
  if (added.length === 0) return state;
  const entries = state.entries.slice();
  for (const entry of added) {
    const time = timeOf(entry);
    const later = entries.findIndex((each) => timeOf(each) > time);
    entries.splice(later < 0 ? entries.length : later, 0, entry);
  }
  return { ...state, entries, untold: new Set([...state.untold, ...added.map(({ key }) => key)]) };
}

/**
 * Puts an entry where the log has it: behind all that was told before, and among what was only read by its time. One
 * that was told before stays where it is.
 *
 * @param at of the event, ISO 8601
 */
export function tell(state: FoldState, entry: Entry, at: string): FoldState {
  const isRead = state.untold.has(entry.key);
  if (!isRead && entryOf(state, entry.key) !== undefined) return replace(state, entry);
  const entries = isRead ? state.entries.filter(({ key }) => key !== entry.key) : state.entries.slice();
  const time = Date.parse(at);
  let place = entries.length;
  for (let before = entries[place - 1]; before !== undefined && isAfter(before); before = entries[place - 1])
    place -= 1;
  entries.splice(place, 0, entry);
  return { ...state, entries, untold: isRead ? withoutOne(state.untold, entry.key) : state.untold };

  function isAfter(each: Entry): boolean {
    return state.untold.has(each.key) && timeOf(each) > time;
  }
}

/** Puts an entry in the place of the one that has its key; nothing when there is none. */
export function replace(state: FoldState, entry: Entry): FoldState {
  const at = placeOf(state.entries, entry.key);
  if (at < 0) return state;
  const entries = state.entries.slice();
  entries[at] = entry;
  return { ...state, entries };
}

export function remove(state: FoldState, isGone: (entry: Entry) => boolean): FoldState {
  const entries = state.entries.filter((entry) => !isGone(entry));
  return entries.length === state.entries.length ? state : { ...state, entries };
}

function placeOf(entries: readonly Entry[], key: string): number {
  for (let at = entries.length - 1; at >= 0; at -= 1) if (entries[at]?.key === key) return at;
  return -1;
}

function withoutOne(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  return new Set([...set].filter((each) => each !== key));
}
