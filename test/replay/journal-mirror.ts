import type { VerbCall } from '../../src/model/batch.ts';
import type { Cut, KeyResolution, RowStatus } from '../../src/model/journal.ts';
import type { Committed } from '../../src/store/store.ts';
import type { StartRow } from '../../src/worker/protocol.ts';

/** A row as far as what is committed tells of it. */
export type MirrorRow = Pick<StartRow, 'key' | 'kind' | 'status' | 'value' | 'askedAt' | 'ord' | 'emitsDone' | 'at'>;

const FAILED: ReadonlySet<RowStatus> = new Set(['failed', 'expired', 'declined', 'withdrawn', 'cancelled']);

/** What the journals must hold, made of what was reported and of what each commit said that it resolved. */
export class JournalMirror {
  readonly #rows = new Map<string, Map<string, MirrorRow>>();

  /** Those that are resolved, in the order of `ord`. */
  resolved(taskId: string): MirrorRow[] {
    return this.rows(taskId)
      .filter(({ status }) => status !== 'pending')
      .sort((a, b) => (a.ord ?? 0) - (b.ord ?? 0));
  }

  rows(taskId: string): MirrorRow[] {
    return [...this.#of(taskId).values()];
  }

  row(taskId: string, key: string): MirrorRow | undefined {
    return this.#of(taskId).get(key);
  }

  /** Takes in one of the calls of a commit. */
  take(call: VerbCall, index: number, { outcomes, resolutions }: Committed): void {
    if (outcomes[index]?.ok) this.#open(call);
    for (const resolution of resolutions) if (resolution.call === index) this.#resolve(call, resolution);
  }

  /**
   * Takes a failing attempt's journal back.
   *
   * @see docs/durability.md
   */
  cut(taskId: string, cut: Cut): void {
    const rows = this.#of(taskId);
    const isStale = ({ status, ord }: MirrorRow) => FAILED.has(status) && ord !== null && ord >= cut.ord;
    for (const row of [...rows.values()]) {
      if (row.askedAt > cut.askedAt || cut.keys.includes(row.key) || isStale(row)) rows.delete(row.key);
      else if (row.emitsDone !== null) rows.set(row.key, { ...row, emitsDone: Math.min(row.emitsDone, cut.emits) });
    }
    this.#reopen(taskId);
  }

  /** What a task that retries another begins with: what was resolved, once it is cut. */
  copy(from: string, to: string, cut: Cut | null): void {
    this.#rows.set(to, new Map(this.#of(from)));
    if (cut !== null) this.cut(to, cut);
    const rows = this.#of(to);
    for (const row of [...rows.values()]) if (row.status === 'pending' && row.ord === null) rows.delete(row.key);
    this.#reopen(to);
  }

  /** A spawn without the row of its result makes its child anew, and keeps its place. */
  #reopen(taskId: string): void {
    const rows = this.#of(taskId);
    for (const row of [...rows.values()]) {
      if (row.kind !== 'spawn' || rows.has(`${row.key}>`)) continue;
      rows.set(row.key, { ...row, status: 'pending', value: null });
    }
  }

  #open(call: VerbCall): void {
    switch (call.verb) {
      case 'startStep':
      case 'settleStep':
        this.#add(call.args.taskId, call.args.step.name, 'step', call.args.askedAt);
        break;
      case 'askQuestion':
      case 'withdrawQuestion':
        this.#add(call.args.taskId, call.args.key, 'ask', call.args.askedAt);
        break;
      case 'startTimer':
        this.#add(call.args.taskId, call.args.key, 'sleep', call.args.askedAt);
        break;
      case 'takeInbox':
        this.#add(call.args.taskId, call.args.key, 'inbox', call.args.askedAt);
        break;
      case 'spawnTask': {
        const { taskId, key, askedAt } = call.args;
        this.#add(taskId, key, 'spawn', askedAt);
        this.#add(taskId, `${key}>`, 'child', this.row(taskId, key)?.askedAt ?? askedAt);
      }
    }
  }

  #add(taskId: string, key: string, kind: MirrorRow['kind'], askedAt: number): void {
    const rows = this.#of(taskId);
    const open = { status: 'pending', value: null, ord: null, emitsDone: null, at: null } as const;
    // A settlement of a step that is settled, or of one that another try has begun, adds nothing.
    if (!rows.has(key)) rows.set(key, { key, kind, askedAt, ...open });
  }

  #resolve(call: VerbCall, { taskId, key, status, value, ord, emitsDone, at }: KeyResolution): void {
    const row = this.row(taskId, key);
    if (row === undefined) throw new Error(`A resolution of ${key}, which nobody has asked for.`);
    const settled = call.verb === 'settleStep' && call.args.step.name === key ? settledText(call.args) : value;
    this.#of(taskId).set(key, { ...row, status, value: settled, ord, emitsDone, at });
  }

  #of(taskId: string): Map<string, MirrorRow> {
    const rows = this.#rows.get(taskId) ?? new Map<string, MirrorRow>();
    this.#rows.set(taskId, rows);
    return rows;
  }
}

function settledText({ outcome }: Extract<VerbCall, { verb: 'settleStep' }>['args']): string | null {
  return outcome.status === 'completed' ? outcome.value : outcome.failure;
}
