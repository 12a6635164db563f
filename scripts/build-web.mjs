/**
 * Bundles the console into `dist/web`: its scripts, one stylesheet and the page that names them, all of them from here.
 * The names carry their content's hash, so that browsers may keep them for ever.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const root = path.dirname(import.meta.dirname);
const source = path.join(root, 'src/web');
const target = path.join(root, 'dist/web');

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['first-paint.ts', 'console.tsx', 'console.css'].map((name) => path.join(source, name)),
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome116', 'firefox128', 'safari17'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  outdir: target,
  write: false,
  logLevel: 'warning',
});

// A server that starts meanwhile does not find half of the one and half of the other.
const fresh = `${target}-${process.pid}`;
mkdirSync(fresh, { recursive: true });
let page = readFileSync(path.join(source, 'console.html'), 'utf8');
for (const { path: file, contents } of outputFiles) {
  const { name, ext } = path.parse(file);
  const hashed = `${name}-${createHash('sha256').update(contents).digest('hex').slice(0, 12)}${ext}`;
  writeFileSync(path.join(fresh, hashed), contents);
  page = page.replaceAll(`${name}${ext}`, hashed);
}
writeFileSync(path.join(fresh, 'console.html'), page);
rmSync(target, { recursive: true, force: true });
renameSync(fresh, target);
