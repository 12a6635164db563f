import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkLayers } from '../../scripts/check-layers.mjs';

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

/** The rules that a tree of files breaks, as `file: rule`. */
function breachesOf(files: Record<string, string>): string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'holdfast-layers-'));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return checkLayers(root).map(({ file, rule }) => `${file}: ${rule}`);
}

describe('the arrows', () => {
  test('are kept by this project', () => {
    expect(checkLayers(path.join(import.meta.dirname, '../..'))).toEqual([]);
  });

  test.each([
    ['src/engine/log.ts', `import type { Store } from '../store/store.ts';`],
    ['src/engine/dispatcher.ts', `import type { Pool } from '../worker/pool.ts';`],
    ['src/engine/dispatcher.ts', `import type { Report } from '../worker/protocol.ts';`],
    ['src/engine/log.ts', `import { createHub } from './hub.ts';`],
    ['src/store/sqlite/write.ts', `import { StoreError } from '../store.ts';`],
    ['src/store/sqlite/write.ts', `import { readFileSync } from 'node:fs';`],
    ['src/http/app.ts', `import type { StoreReads } from '../store/store.ts';`],
    ['src/server.ts', `import { createPool } from './worker/create-pool.ts';`],
    ['src/agents/trip-planner.ts', `import { defineAgent } from '../worker/define-agent.ts';`],
    ['src/client/stream.ts', `import type { Event } from '../model/event.ts';`],
    ['src/cli/serve.ts', `import { openSqlite } from '../store/sqlite/open.ts';`],
    ['src/index.ts', `export { openSqlite } from './store/sqlite/open.ts';`],
    ['src/model/task.ts', `import { z } from 'zod';`],
  ])('allow %s to say %s', (file, text) => {
    expect(breachesOf({ [file]: text })).toEqual([]);
  });

  test.each([
    ['src/model/task.ts', `import { open } from '../store/store.ts';`, 'model must not import store/store.ts'],
    ['src/model/task.ts', `import type { Store } from '../store/store.ts';`, 'model must not import store/store.ts'],
    ['src/model/task.ts', `import fs from 'node:fs';`, 'model must not import node:fs: it does no I/O'],
    ['src/model/task.ts', `import fs from 'fs';`, 'model must not import fs: it does no I/O'],
    ['src/client/stream.ts', `import 'node:net';`, 'client must not import node:net: it does no I/O'],
    ['src/client/stream.ts', `import { isId } from '../model/id.ts';`, 'client may import model/id.ts only as a type'],
    [
      'src/store/store.ts',
      `import { open } from './sqlite/open.ts';`,
      'the store contract must not import store/sqlite/open.ts',
    ],
    [
      'src/store/sqlite/open.ts',
      `import { pool } from '../../worker/pool.ts';`,
      'store/sqlite must not import worker/pool.ts',
    ],
    [
      'src/store/postgres/open.ts',
      `import '../sqlite/open.ts';`,
      'store/postgres must not import store/sqlite/open.ts',
    ],
    ['src/worker/pool.ts', `export * from '../store/store.ts';`, 'worker must not import store/store.ts'],
    ['src/worker/pool.ts', `type Log = import('../engine/log.ts').Log;`, 'worker must not import engine/log.ts'],
    ['src/agents/chat.ts', `import { slot } from '../worker/slot.ts';`, 'agents must not import worker/slot.ts'],
    [
      'src/engine/log.ts',
      `import { open } from '../store/sqlite/open.ts';`,
      'engine must not import store/sqlite/open.ts',
    ],
    ['src/engine/log.ts', `const app = await import('../http/app.ts');`, 'engine must not import http/app.ts'],
    [
      'src/engine/log.ts',
      `import { MAX } from '../worker/protocol.ts';`,
      'engine may import worker/protocol.ts only as a type',
    ],
    [
      'src/http/app.ts',
      `import { StoreError } from '../store/store.ts';`,
      'http may import store/store.ts only as a type',
    ],
    ['src/http/app.ts', `import { pool } from '../worker/pool.ts';`, 'http must not import worker/pool.ts'],
    [
      'src/server.ts',
      `new URL('./store/sqlite/thread.ts', import.meta.url);`,
      'server must not import store/sqlite/thread.ts',
    ],
    ['src/server.ts', `import { readConfig } from './config.ts';`, 'server must not import config.ts'],
    ['src/extra/thing.ts', '', 'belongs to no layer'],
  ])('forbid %s to say %s', (file, text, rule) => {
    expect(breachesOf({ [file]: text })).toEqual([`${file}: ${rule}`]);
  });

  test('are not fooled by imports in strings and comments', () => {
    const text = `// import fs from 'node:fs';\nexport const text = "import '../http/app.ts'";\n`;

    expect(breachesOf({ 'src/model/text.ts': text })).toEqual([]);
  });
});

describe('a file', () => {
  test('may have 300 lines and no more, where it is of the product', () => {
    const breaches = breachesOf({
      'src/model/long.ts': '\n'.repeat(300),
      'src/model/longer.ts': '\n'.repeat(301),
      'test/longer.test.ts': '\n'.repeat(302),
    });

    expect(breaches).toEqual(['src/model/longer.ts: has 301 lines; a file has at most 300']);
  });

  test.each(['utils', 'types', 'helpers', 'string-utils', 'task-manager', 'question-service', 'common'])(
    'must not be a bucket called %s',
    (name) => {
      const file = `src/engine/${name}.ts`;

      expect(breachesOf({ [file]: '' })).toEqual([
        `${file}: "${name}" is a bucket; a file is named for what it defines`,
      ]);
    },
  );

  test('must not be an interior barrel', () => {
    const breaches = breachesOf({ 'src/engine/index.ts': '', 'src/index.ts': '', 'src/client/index.ts': '' });

    expect(breaches).toEqual(['src/engine/index.ts: is an interior barrel']);
  });
});
