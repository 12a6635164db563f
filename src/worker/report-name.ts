import type { RowKind } from '../model/journal.ts';
import type { CopyReport } from './protocol.ts';

const KINDS: Record<RowKind, string> = {
  step: 'step',
  ask: 'question',
  sleep: 'sleep',
  inbox: 'reading of the inbox',
  history: 'reading of the history',
  spawn: 'child',
  child: "child's result",
};

/** What an author calls a thing of this kind: `the step "charge"`. */
export function rowName(kind: RowKind, key: string): string {
  return `the ${KINDS[kind]} ${JSON.stringify(key)}`;
}

/** What a report was made for, in an author's words. */
export function reportName(report: Exclude<CopyReport, { kind: 'append' | 'wait' }>): string {
  switch (report.kind) {
    case 'startStep':
    case 'settleStep':
      return rowName('step', report.step.name);
    case 'ask':
    case 'withdraw':
      return rowName('ask', report.key);
    case 'sleep':
    case 'inbox':
    case 'history':
    case 'spawn':
      return rowName(report.kind, report.key);
    case 'end':
      return 'its end';
  }
}
