import type { Span } from './spans.ts';

/** A stretch of waiting that is drawn shorter than it was. */
export interface Pause {
  from: number;
  to: number;
}

export interface TimeScale {
  /** Where an instant is drawn: 0 at the beginning, 1 at the end. */
  place(at: number): number;
  pauses: readonly Pause[];
}

/** How long a wait may be drawn, as a share of all the rest. */
const LONGEST_SHARE = 0.2;

/**
 * Lays time out so that work can be seen beside waits of hours: a wait that is longer than a fifth of everything else is
 * drawn as long as that.
 *
 * @param to the end of the picture; waits that have not ended end there
 */
export function timeScale(spans: readonly Span[], from: number, to: number): TimeScale {
  const waits = mergedWaits(spans, from, to);
  const waited = waits.reduce((sum, wait) => sum + (wait.to - wait.from), 0);
  const worked = Math.max(1, to - from - waited);
  const longest = worked * LONGEST_SHARE;
  const pauses = waits.filter((wait) => wait.to - wait.from > longest);
  const saved = (at: number) =>
    pauses.reduce((sum, pause) => {
      const excess = pause.to - pause.from - longest;
      const passed = Math.min(1, Math.max(0, (at - pause.from) / (pause.to - pause.from)));
      return sum + excess * passed;
    }, 0);
  const length = Math.max(1, to - from - saved(to));
  return {
    pauses,
    place: (at) => Math.min(1, Math.max(0, (at - from - saved(at)) / length)),
  };
}

/** Stretches in which the task waited, without overlaps, in order. */
function mergedWaits(spans: readonly Span[], from: number, to: number): Pause[] {
  const waits: Pause[] = [];
  const sorted = spans.filter(({ kind }) => kind === 'waiting').sort((a, b) => a.from - b.from);
  for (const span of sorted) {
    const wait = { from: Math.max(from, span.from), to: Math.min(to, span.to ?? to) };
    const last = waits.at(-1);
    if (last !== undefined && wait.from <= last.to) last.to = Math.max(last.to, wait.to);
    else if (wait.to > wait.from) waits.push(wait);
  }
  return waits;
}
