import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type ts from 'typescript';

/**
 * The code as it stands, compiled into a directory of its own as the build does it, with its failpoints armed. So there is
 * nothing in what is shipped that could be switched, the main thread, the writer's and the workers' all run the same, and
 * it starts in less than half the time that source takes.
 */
export interface CodeCopy {
  /** To be started as `node <main> serve …`. */
  readonly main: string;
  /** What a file of agents, given as a path below the repository, is in the copy. */
  agents(file: string): string;
  remove(): void;
}

/** Something else to be changed in a copy. */
export interface Change {
  /** Below the repository. */
  file: string;
  /** Must be there exactly once. */
  from: string;
  to: string;
}

const ROOT = path.join(import.meta.dirname, '../..');
/** What the code expects beside it. */
const BESIDE = ['node_modules', 'migrations', 'package.json'];
const ARMED = readFileSync(new URL('./failpoint-armed.ts', import.meta.url), 'utf8');
/** What was compiled before, by what it was made from: the compiler takes seconds, and several tests make copies. */
const COMPILER = readFileSync(import.meta.filename, 'utf8');
const COMPILED = path.join(ROOT, 'node_modules/.cache/holdfast-copy');

/** Lets commits wait for no more than better-sqlite3 has by default: a power cut then takes what was acknowledged. */
export const SYNC_AT_CHECKPOINTS_ONLY: readonly Change[] = [
  { file: 'src/store/sqlite/connection.ts', from: 'synchronous = FULL', to: 'synchronous = NORMAL' },
  { file: 'src/store/sqlite/connection.ts', from: 'const FULL = 2;', to: 'const FULL = 1;' },
];

/**
 * Makes a copy.
 *
 * @param agents files that export agents, below the repository; what they import of the tests goes with them
 * @throws Error when a change finds no place
 */
export function copyCode(agents: readonly string[], changes: readonly Change[] = []): CodeCopy {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-copy-')));
  const place = (file: string) => path.join(dir, file.replace(/\.ts$/, '.js'));
  for (const name of BESIDE) symlinkSync(path.join(ROOT, name), path.join(dir, name));
  for (const file of [...sources(), ...withImports(agents)]) {
    const text = file === 'src/failpoint.ts' ? ARMED : changed(file, changes);
    mkdirSync(path.dirname(place(file)), { recursive: true });
    writeFileSync(place(file), compile(text));
  }
  return { main: place('src/cli/main.ts'), agents: place, remove: () => rmSync(dir, { recursive: true }) };
}

function sources(): string[] {
  const names = readdirSync(path.join(ROOT, 'src'), { encoding: 'utf8', recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => path.join('src', name));
}

const IMPORT = / from '(\.[^']+)';$/gm;

/** The files, and what they import of the tests, which in turn may import more. */
function withImports(files: readonly string[]): string[] {
  const found = new Set(files);
  for (const file of found) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const [, name = ''] of text.matchAll(IMPORT)) found.add(path.join(path.dirname(file), name));
  }
  return [...found].filter((file) => !file.startsWith('src/'));
}

function changed(file: string, changes: readonly Change[]): string {
  let text = readFileSync(path.join(ROOT, file), 'utf8');
  for (const { from, to } of changes.filter((change) => change.file === file)) {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} has "${from}" ${parts.length - 1} times.`);
    text = parts.join(to);
  }
  return text;
}

function compile(text: string): string {
  const known = path.join(COMPILED, `${createHash('sha256').update(COMPILER).update(text).digest('hex')}.js`);
  if (existsSync(known)) return readFileSync(known, 'utf8');
  const { transpileModule, ModuleKind, ScriptTarget }: typeof ts = createRequire(import.meta.url)('typescript');
  const { outputText } = transpileModule(text, {
    compilerOptions: {
      target: ScriptTarget.ES2023,
      module: ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  });
  mkdirSync(COMPILED, { recursive: true });
  const whole = `${known}.${process.pid}`;
  writeFileSync(whole, outputText);
  renameSync(whole, known);
  return outputText;
}
