import type { Reply } from '../../src/model/agent.ts';
import type { Cut } from '../../src/model/journal.ts';
import type { CopyReport, StartRow, Told } from '../../src/worker/protocol.ts';

/** What a key comes to; the journal gives it its place. */
export type Outcome = Pick<Told, 'key' | 'status' | 'value'>;

type Called = Pick<StartRow, 'key' | 'kind' | 'askedAt'> & { once?: boolean };

/** What a store would keep of a task, as far as a worker can tell: its rows, and where they stand among its events. */
export class Journal {
  readonly rows = new Map<string, StartRow>();
  readonly marks: string[] = [];
  /** What the next `inbox` takes. */
  inbox: unknown[] = [];
  emits = 0;
  #ord = 0;
  readonly #nextAt: () => number;

  constructor(nextAt: () => number) {
    this.#nextAt = nextAt;
  }

  /** Writes down what a report tells. @returns what it resolved */
  commit(report: CopyReport): Told[] {
    switch (report.kind) {
      case 'append':
        if (report.after !== this.emits) throw new Error(`After ${report.after}, but there are ${this.emits}.`);
        this.emits += report.events.filter(({ step }) => step === null).length;
        return [];
      case 'startStep': {
        const row = this.rows.get(report.step.name) ?? newRow(stepOf(report));
        if (report.step.attempt !== row.tries + 1) throw new Error(`Attempt ${report.step.attempt} of ${row.tries}.`);
        this.rows.set(row.key, { ...row, tries: report.step.attempt });
        return [];
      }
      case 'settleStep': {
        const { step, outcome } = report;
        if (outcome.status === 'failed' && outcome.retryInMs !== null) return [];
        this.#open(stepOf(report));
        const row: Outcome =
          outcome.status === 'completed'
            ? { key: step.name, status: 'done', value: outcome.value }
            : { key: step.name, status: 'failed', value: outcome.failure };
        return this.resolve(row).map((told) => ({ ...told, value: null }));
      }
      case 'ask':
      case 'sleep':
        this.#open(report);
        return [];
      case 'inbox':
        this.#open(report);
        return this.resolve({ key: report.key, status: 'done', value: JSON.stringify(this.inbox.splice(0)) });
      case 'spawn':
        this.#open(report);
        this.#open({ key: `${report.key}>`, kind: 'child', askedAt: report.askedAt });
        return this.resolve({ key: report.key, status: 'done', value: JSON.stringify(report.childId) });
      case 'withdraw':
        this.#open({ key: report.key, kind: 'ask', askedAt: report.askedAt });
        return this.resolve(withdrawn(report.key));
      default:
        return [];
    }
  }

  /** Gives pending rows a place in the order, one that is opened anew the place that it had. */
  resolve(...outcomes: Outcome[]): Told[] {
    return outcomes.flatMap((outcome) => {
      const row = this.rows.get(outcome.key) ?? newRow({ key: outcome.key, kind: 'ask', askedAt: 0 });
      if (row.status !== 'pending') return [];
      const place = {
        ord: row.ord ?? ++this.#ord,
        emitsDone: row.emitsDone ?? this.emits,
        at: row.at ?? this.#nextAt(),
      };
      this.rows.set(row.key, { ...row, ...outcome, ...place });
      return [{ ...outcome, ...place }];
    });
  }

  /** What a cut leaves of it, as far as steps and events go. */
  takeBack(cut: Cut | null): void {
    if (cut === null) return;
    for (const row of [...this.rows.values()]) {
      const isStale = row.status === 'failed' && row.ord !== null && row.ord >= cut.ord;
      if (row.askedAt > cut.askedAt || cut.keys.includes(row.key) || isStale) this.rows.delete(row.key);
      else if (row.emitsDone !== null && row.emitsDone > cut.emits)
        this.rows.set(row.key, { ...row, emitsDone: cut.emits });
    }
    this.emits = cut.emits;
  }

  #open(called: Called): void {
    if (!this.rows.has(called.key)) this.rows.set(called.key, newRow(called));
  }
}

function newRow({ key, kind, askedAt, once = false }: Called): StartRow {
  const unresolved = { status: 'pending', value: null, ord: null, emitsDone: null, at: null } as const;
  return { key, kind, askedAt, once, tries: 0, ...unresolved };
}

function stepOf({ step, askedAt, once }: Extract<CopyReport, { kind: 'startStep' | 'settleStep' }>): Called {
  return { key: step.name, kind: 'step', askedAt, once };
}

/** The answer of a person to the item `a`. */
export function answered(key: string, value = 'yes'): Outcome {
  return ask(key, { status: 'answered', answers: { a: value }, resolvedBy: 'local' });
}

export function expired(key: string): Outcome {
  return ask(key, { status: 'expired' });
}

export function declined(key: string): Outcome {
  return ask(key, { status: 'declined', reason: null });
}

function withdrawn(key: string): Outcome {
  return ask(key, { status: 'withdrawn' });
}

export function slept(key: string): Outcome {
  return { key, status: 'done', value: 'null' };
}

/** The end of the child that was spawned under `key`. */
export function childCompleted(key: string, output: unknown): Outcome {
  return { key: `${key}>`, status: 'completed', value: JSON.stringify({ status: 'completed', output }) };
}

export function childFailed(key: string, message: string): Outcome {
  const result = { status: 'failed', error: { code: 'agent_error', message } };
  return { key: `${key}>`, status: 'failed', value: JSON.stringify(result) };
}

function ask(key: string, reply: Reply): Outcome {
  return { key, status: reply.status, value: JSON.stringify(reply) };
}
