import type { StartRow } from '../../src/worker/protocol.ts';

/** What passed between an agent's code and its handle, in the order in which it did. */
export type TraceEntry =
  | { at: 'call'; what: string; op: string }
  /** `value`: JSON text of what the promise came to. */
  | { at: 'delivery'; what: string; ok: boolean; value: string; now: number }
  | { at: 'end'; ok: boolean; value: string };

/** One run of an agent's code, from its beginning to its end or its loss. */
export interface Incarnation {
  taskId: string;
  fence: number;
  worker: number;
  /** How often the journal of the task had been cut when it began. */
  cuts: number;
  /** What it was started with. */
  rows: readonly StartRow[];
  emits: number;
  trace: TraceEntry[];
  /** False once its worker is gone. */
  isAlive(): boolean;
}

/** A function of a step that ran. */
export interface BodyRun {
  taskId: string;
  key: string;
  once: boolean;
  ended: 'returned' | 'threw' | null;
  incarnation: Incarnation;
}

export function deliveriesOf({ trace }: Pick<Incarnation, 'trace'>): string[] {
  return trace.flatMap((entry) =>
    entry.at === 'delivery' ? [`${entry.what} ${entry.ok ? '=' : '!'} ${entry.value} @${entry.now}`] : [],
  );
}

export function callsOf({ trace }: Pick<Incarnation, 'trace'>): string[] {
  return trace.flatMap((entry) => (entry.at === 'call' ? [`${entry.op} ${entry.what}`] : []));
}

/** An emit's or a progress's name in a trace, by its number among those outside steps. */
export function emitName(n: number): string {
  return `(${n})`;
}
