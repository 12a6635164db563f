import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const script = path.join(import.meta.dirname, '../../.ci/summary.mjs');
const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-summary-'));

afterAll(() => rmSync(directory, { recursive: true }));

interface Counts {
  passed: number;
  failed?: number;
  skipped?: number;
}

/** What the summary says of a report with these numbers, after steps that ended with `stepStatus`. */
function summarize({ passed, failed = 0, skipped = 0 }: Counts, stepStatus = 0, env: NodeJS.ProcessEnv = {}) {
  const report = path.join(directory, 'report.json');
  const numbers = { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, numTodoTests: 0 };
  writeFileSync(report, JSON.stringify({ ...numbers, success: failed === 0 }));
  return run(report, stepStatus, env);
}

function run(report: string, stepStatus: number, env: NodeJS.ProcessEnv = {}) {
  const { status, stdout } = spawnSync(process.execPath, [script, report, String(stepStatus)], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

describe('the summary of a run', () => {
  test('counts what passed, and succeeds', () => {
    expect(summarize({ passed: 12 })).toEqual({ status: 0, lastLine: '12 passed, 0 failed' });
  });

  test('fails when a test failed', () => {
    expect(summarize({ passed: 11, failed: 1 })).toEqual({ status: 1, lastLine: '11 passed, 1 failed' });
  });

  test('fails when no test ran, and when there is no report', () => {
    const none = { status: 1, lastLine: '0 passed, 0 failed' };

    expect(summarize({ passed: 0 })).toEqual(none);
    expect(run(path.join(directory, 'missing.json'), 0)).toEqual(none);
  });

  test('fails when a step failed though every test passed', () => {
    expect(summarize({ passed: 12 }, 2)).toEqual({ status: 1, lastLine: '12 passed, 0 failed' });
  });

  test('allows skipped tests, but not with CI=true', () => {
    const lastLine = '12 passed, 0 failed, 1 skipped';

    expect(summarize({ passed: 12, skipped: 1 })).toEqual({ status: 0, lastLine });
    expect(summarize({ passed: 12, skipped: 1 }, 0, { CI: 'true' })).toEqual({ status: 1, lastLine });
  });
});
