/**
 * Checks what the compiler cannot: that imports only point down the layers of docs/architecture.md, that no file grows
 * too long, and that none is a bucket. Prints each file with the rule that it breaks.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const MAX_LINES = 300;
const SOURCES = ['src', 'test', 'bench', 'examples', 'scripts'];
const BUCKET = /^((.*-)?(utils?|helpers?|types?|managers?|services?)|common|misc|shared)$/;

/** What every layer but the pure ones may import: it stands wherever the process may die. */
const ANYWHERE = /^failpoint\.ts$/;

/**
 * What each layer may import of `src`, beside itself: an exact file, or everything below a folder. A type-only entry is
 * for what only has to be named. The first layer whose `holds` matches a file is its layer.
 *
 * @type {{ name: string, holds: RegExp, may: readonly RegExp[], mayType?: readonly RegExp[], node?: false }[]}
 */
const LAYERS = [
  { name: 'model', holds: /^model\//, may: [], node: false },
  { name: 'client', holds: /^client\//, may: [], mayType: [/^model\//], node: false },
  { name: 'web', holds: /^web\//, may: [/^client\//], mayType: [/^model\//], node: false },
  { name: 'the store contract', holds: /^store\/[^/]+$/, may: [/^model\//] },
  { name: 'store/sqlite', holds: /^store\/sqlite\//, may: [/^model\//, /^store\/[^/]+$/] },
  { name: 'store/postgres', holds: /^store\/postgres\//, may: [/^model\//, /^store\/[^/]+$/] },
  { name: 'worker', holds: /^worker\//, may: [/^model\//] },
  { name: 'agents', holds: /^agents\//, may: [/^model\//, /^worker\/define-agent\.ts$/] },
  { name: 'agent', holds: /^agent\.ts$/, may: [/^model\//, /^worker\/define-agent\.ts$/] },
  {
    name: 'engine',
    holds: /^engine\//,
    may: [/^model\//, /^store\/store\.ts$/, /^worker\/pool\.ts$/],
    mayType: [/^store\/cluster\.ts$/, /^worker\/protocol\.ts$/],
  },
  { name: 'access', holds: /^access\//, may: [/^model\//, /^store\/[^/]+$/] },
  {
    name: 'http',
    holds: /^http\//,
    may: [/^engine\//, /^access\//, /^model\//],
    mayType: [/^store\/(store|access)\.ts$/],
  },
  {
    name: 'server',
    holds: /^server\.ts$/,
    may: [/^http\//, /^engine\//, /^access\//, /^model\//, /^store\/[^/]+$/, /^worker\//],
    mayType: [/^serving-options\.ts$/],
  },
  {
    name: 'config',
    holds: /^(config|config-option|database-options|option-values|serving-options)\.ts$/,
    may: [/^model\//],
    mayType: [/^access\//],
  },
  { name: 'failpoint', holds: ANYWHERE, may: [], node: false },
  { name: 'entry', holds: /^(cli\/.*|index\.ts|postgres\.ts|start-over\.ts)$/, may: [/./] },
];

/**
 * @param {string} root the folder that holds `src`
 * @returns {{ file: string, rule: string }[]} one for each breach, in the order of the files
 */
export function checkLayers(root) {
  return SOURCES.flatMap((folder) => codeBelow(root, folder)).flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const rules = [...shapeRules(file, text), ...(file.startsWith('src/') ? importRules(file, text) : [])];
    return rules.map((rule) => ({ file, rule }));
  });
}

/** @returns {string[]} paths from the root, with `/` on every platform */
function codeBelow(/** @type {string} */ root, /** @type {string} */ folder) {
  if (!existsSync(path.join(root, folder))) return [];
  const names = readdirSync(path.join(root, folder), { encoding: 'utf8', recursive: true });
  const files = names.filter((name) => /\.m?[jt]sx?$/.test(name)).map((name) => path.join(folder, name));
  return files.map((file) => file.replaceAll(path.sep, '/')).sort();
}

function shapeRules(/** @type {string} */ file, /** @type {string} */ text) {
  const rules = [];
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  if (file.startsWith('src/') && lines > MAX_LINES) rules.push(`has ${lines} lines; a file has at most ${MAX_LINES}`);
  const name = path.basename(file).replace(/(\.test|\.suite)?\.\w+$/, '');
  if (BUCKET.test(name)) rules.push(`"${name}" is a bucket; a file is named for what it defines`);
  const isEntry = file === 'src/index.ts' || file === 'src/client/index.ts';
  if (name === 'index' && file.startsWith('src/') && !isEntry) rules.push('is an interior barrel');
  return rules;
}

function importRules(/** @type {string} */ file, /** @type {string} */ text) {
  const own = file.slice('src/'.length);
  const layer = LAYERS.find(({ holds }) => holds.test(own));
  if (layer === undefined) return ['belongs to no layer'];
  return importsOf(file, text).flatMap(({ name, typeOnly }) => {
    if (!name.startsWith('.')) {
      return layer.node === false && isBuiltin(name) ? [`${layer.name} must not import ${name}: it does no I/O`] : [];
    }
    const target = path.posix.join(path.posix.dirname(file), name);
    if (!target.startsWith('src/')) return [];
    const to = target.slice('src/'.length).replace(/\.js$/, '.ts');
    if (layer.node !== false && ANYWHERE.test(to)) return [];
    if (layer.holds.test(to) || layer.may.some((allowed) => allowed.test(to))) return [];
    if (!layer.mayType?.some((allowed) => allowed.test(to))) return [`${layer.name} must not import ${to}`];
    return typeOnly ? [] : [`${layer.name} may import ${to} only as a type`];
  });
}

/**
 * Every module that a file names: imports, re-exports, types by `import('…')`, dynamic imports, and files that it
 * starts or reads by `new URL('…', import.meta.url)`.
 *
 * @returns {{ name: string, typeOnly: boolean }[]}
 */
function importsOf(/** @type {string} */ file, /** @type {string} */ text) {
  /** @type {{ name: string, typeOnly: boolean }[]} */
  const imports = [];
  const add = (/** @type {ts.Node | undefined} */ node, typeOnly = false) => {
    if (node !== undefined && ts.isStringLiteralLike(node)) imports.push({ name: node.text, typeOnly });
  };
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    else if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
      if (node.arguments?.[1]?.getText() === 'import.meta.url') visitStrings(node.arguments[0], add);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return imports;
}

function visitStrings(/** @type {ts.Node | undefined} */ node, /** @type {(node: ts.Node) => void} */ add) {
  if (node === undefined) return;
  add(node);
  ts.forEachChild(node, (child) => visitStrings(child, add));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const breaches = checkLayers(path.dirname(import.meta.dirname));
  for (const { file, rule } of breaches) console.error(`${file}: ${rule}`);
  process.exitCode = breaches.length > 0 ? 1 : 0;
}
