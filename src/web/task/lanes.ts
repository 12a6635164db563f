import type { Span } from './spans.ts';

/** A line of the picture: what happened of one name. */
export interface Lane {
  key: string;
  label: string;
  kind: Span['kind'];
  spans: readonly Span[];
}

/** Attempts first, then waits, then everything else by name, in the order in which it began. */
export function toLanes(spans: readonly Span[]): Lane[] {
  const lanes = new Map<string, { key: string; label: string; kind: Span['kind']; spans: Span[] }>();
  for (const span of spans) {
    const key = span.kind === 'attempt' || span.kind === 'waiting' ? span.kind : `${span.kind} ${span.name}`;
    const lane = lanes.get(key);
    if (lane !== undefined) lane.spans.push(span);
    else lanes.set(key, { key, label: labelOf(span), kind: span.kind, spans: [span] });
  }
  const rank = ({ kind }: Lane) => (kind === 'attempt' ? 0 : kind === 'waiting' ? 1 : 2);
  return [...lanes.values()].sort((a, b) => rank(a) - rank(b));
}

function labelOf({ kind, name }: Span): string {
  if (kind === 'attempt') return 'Attempts';
  return kind === 'waiting' ? 'Waiting' : name;
}
