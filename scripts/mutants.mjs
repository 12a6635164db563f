/**
 * Breaks the product in every way that test/mutants describes, one at a time, in a copy of the tree, and expects the test
 * that each names to fail. Prints a table; ends with 1 when a mutant survives or can no longer be applied.
 *
 * The first line of a mutant is `# <test file> > <test name>`, and what follows is a unified diff. Without arguments all
 * are tried, else those whose names contain one of them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const mutants = path.join(root, 'test/mutants');
/** What the tests of a mutant need of the tree. */
const COPIED = ['src', 'test', 'migrations', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

const wanted = process.argv.slice(2);
const names = readdirSync(mutants)
  .filter((name) => name.endsWith('.patch'))
  .map((name) => path.basename(name, '.patch'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort();
const width = Math.max(0, ...names.map((name) => name.length));
const results = names.map((name) => {
  const result = tryMutant(path.join(mutants, `${name}.patch`));
  console.log(`${name.padEnd(width)}  ${result}`);
  return result;
});
const caught = results.filter((result) => result.startsWith('caught')).length;
console.log(`${caught} of ${names.length} caught`);
process.exit(names.length > 0 && caught === names.length ? 0 : 1);

/** @param {string} patch */
function tryMutant(patch) {
  const [, file = '', test = ''] = /^# (\S+) > (.+)$/m.exec(readFileSync(patch, 'utf8').split('\n', 1)[0] ?? '') ?? [];
  if (test === '') return 'NO TEST IS NAMED';
  const tree = mkdtempSync(path.join(os.tmpdir(), 'holdfast-mutant-'));
  try {
    for (const name of COPIED) cpSync(path.join(root, name), path.join(tree, name), { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
    const applied = spawnSync('git', ['apply', '--recount', patch], { cwd: tree, encoding: 'utf8' });
    if (applied.status !== 0) return `DOES NOT APPLY: ${applied.stderr.trim()}`;
    return judge(tree, file, test);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/**
 * A test that was not found, or never came to be judged, has caught nothing.
 *
 * @param {string} tree
 * @param {string} file
 * @param {string} test
 */
function judge(tree, file, test) {
  const report = path.join(tree, 'report.json');
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  // The titles of what a test stands in come before its own.
  const pattern = `(^| )${test.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  const args = [vitest, 'run', file, '-t', pattern, '--reporter=json', `--outputFile=${report}`];
  spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  if (!existsSync(report)) return `NOT RUN: ${file}`;
  /** @type {{ testResults: { assertionResults: { title: string, status: string }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const statuses = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ title }) => title === test)
    .map(({ status }) => status)
    .filter((status) => status !== 'skipped' && status !== 'pending');
  if (statuses.length === 0) return `NOT FOUND: ${file} > ${test}`;
  return statuses.includes('failed') ? `caught by ${file} > ${test}` : `SURVIVED ${file} > ${test}`;
}
