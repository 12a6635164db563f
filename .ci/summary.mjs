/**
 * Prints the numbers of vitest's JSON report as `N passed, N failed`; fails when a test failed, when none ran, when
 * something else did, and with CI=true when one was skipped.
 */
import { existsSync, readFileSync } from 'node:fs';

const [, , file = '', status] = process.argv;
const report = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, success: false };
const { numPassedTests: passed, numFailedTests: failed } = report;
const skipped = report.numPendingTests + report.numTodoTests;
const forbidden = process.env.CI === 'true' && skipped > 0;

if (status !== '0') console.log(`A step failed with exit code ${status}.`);
if (forbidden) console.log('Nothing may be skipped here.');
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = status !== '0' || !report.success || failed > 0 || passed === 0 || forbidden ? 1 : 0;
