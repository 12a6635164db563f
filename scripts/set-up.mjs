/**
 * Makes a clone ready to run: installs what is missing and builds what is out of date. When there is nothing to do it
 * takes a few milliseconds. Runs before anything is installed, so it uses Node alone.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const file = (/** @type {string} */ name) => path.join(root, name);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Holdfast needs Node 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
if (!existsSync(file('node_modules/.package-lock.json'))) run('Installing', 'npm', ['ci']);
else if (!isInstalled()) run('Installing what has changed', 'npm', ['install']);
if (isBuildOld()) {
  run('Building', process.execPath, [file('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json']);
  run('Building the console', process.execPath, [file('scripts/build-web.mjs')]);
}

/** Whether node_modules holds the versions that the lockfile names. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  return Object.entries(wanted).every(
    ([name, { version, optional }]) => name === '' || optional === true || found[name]?.version === version,
  );
}

/** @returns {Record<string, { version: string, optional?: boolean }>} */
function packagesOf(/** @type {string} */ lockfile) {
  return JSON.parse(readFileSync(file(lockfile), 'utf8')).packages;
}

function isBuildOld() {
  const built = ['dist/index.js', 'dist/cli/main.js', 'dist/web/console.html'].map((name) => mtime(file(name)));
  const recipes = ['tsconfig.build.json', 'scripts/build-web.mjs', 'package-lock.json'].map((name) =>
    mtime(file(name)),
  );
  return Math.min(...built) < Math.max(newest(file('src')), ...recipes);
}

/** The newest change below a directory, epoch ms; removing a file counts. */
function newest(/** @type {string} */ directory) {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  const times = entries.map((entry) => mtime(path.join(entry.parentPath, entry.name)));
  return Math.max(mtime(directory), ...times);
}

/** Epoch ms; 0 for what does not exist. */
function mtime(/** @type {string} */ name) {
  return statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function run(/** @type {string} */ what, /** @type {string} */ command, /** @type {string[]} */ args) {
  console.error(`${what} …`);
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === 'win32' && command === 'npm';
  // Standard output belongs to what comes after the set-up.
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell });
  if (status === 0) return;
  console.error(`${what} failed${error === undefined ? '' : `: ${error.message}`}.`);
  process.exit(1);
}
