import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { cleanUp, root, start, startServer } from '../cli/running-server.ts';

const LIMIT_MS = 120_000;
const page = readFileSync(path.join(root, 'docs/client.md'), 'utf8');
const native = readFileSync(path.join(root, 'examples/react-native/README.md'), 'utf8');
const CLIENT = path.join(root, 'src/client/index.ts');

/** What stands in a page's own code around its snippets. */
const AROUND = `
import { type Client, type ConversationView, createConversationStore } from 'holdfast/client';
import { useMemo, useSyncExternalStore } from 'react';
import { readable } from 'svelte/store';
import { onScopeDispose, shallowRef } from 'vue';
declare const client: Client;
declare const conversationId: string;
declare function render(view: ConversationView): void;
`;

/** Of other packages no more than what is called, as they declare it. React's are those of preact/compat. */
const PACKAGES = `
declare module 'vue' {
  export function shallowRef<T>(value: T): { value: T };
  export function onScopeDispose(dispose: () => void): void;
}
declare module 'svelte/store' {
  export function readable<T>(value: T, start: (set: (value: T) => void) => () => void): { subscribe(run: (value: T) => void): () => void };
}
declare module 'react-native' {
  export const AppState: { addEventListener(type: 'change', listener: (state: 'active' | 'background' | 'inactive') => void): { remove(): void } };
}
declare module 'expo/fetch' {
  type Init = { method?: string; headers?: HeadersInit; body?: BodyInit; signal?: AbortSignal };
  export function fetch(input: string | URL | { url: string }, init?: Init): Promise<Response>;
}
declare module '@react-native-async-storage/async-storage' {
  const storage: {
    getAllKeys(): Promise<string[]>;
    getItem(key: string): Promise<string | null>;
    setItem(key: string, value: string): Promise<void>;
    removeItem(key: string): Promise<void>;
  };
  export default storage;
}
`;

function blocksOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/^```ts ?(\w*)\n([\s\S]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code]),
  );
}

const blocks = blocksOf(page);
const program = `${blocks.get('import')}${blocks.get('events')}`;

/** A directory below the repository, where packages are found, and in nobody's way. */
function workDirectory(): string {
  mkdirSync(path.join(root, '.cache'), { recursive: true });
  const directory = mkdtempSync(path.join(root, '.cache/client-docs-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

afterEach(cleanUp);

describe('docs/client.md', () => {
  test('is a page of at most 200 lines, with snippets of at most ten', () => {
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
    expect([...blocks.keys()]).toEqual(['import', 'events', 'cursor', 'vanilla', 'react', 'vue', 'svelte']);
    for (const code of blocks.values()) expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  });

  test(
    'has snippets that the compiler takes, and so has the example for React Native',
    async () => {
      const directory = workDirectory();
      const files = {
        'packages.d.ts': PACKAGES,
        'program.ts': program,
        ...Object.fromEntries(
          ['cursor', 'vanilla', 'react', 'vue', 'svelte'].map((name) => [`${name}.ts`, AROUND + blocks.get(name)]),
        ),
        'native.ts': blocksOf(native).get('') ?? '',
        'tsconfig.json': JSON.stringify({
          extends: '../../tsconfig.json',
          compilerOptions: {
            lib: ['ES2023', 'DOM', 'DOM.Iterable'],
            paths: {
              'holdfast/client': [CLIENT],
              react: [path.join(root, 'node_modules/preact/compat/src/index.d.ts')],
            },
          },
          include: ['.'],
          exclude: [],
        }),
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);

      const compiler = start(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', directory]);

      expect(await compiler.exited, compiler.stdout).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    'begins with a program that is told what it says',
    async () => {
      const { url } = await startServer();
      const file = path.join(workDirectory(), 'program.ts');
      const source = program.replace('http://127.0.0.1:4747', url).replace('holdfast/client', CLIENT);
      writeFileSync(file, source);

      const running = start(process.execPath, ['--import', 'tsx', file]);

      expect(await running.exited, running.stderr).toBe(0);
      const lines = running.stdout.trimEnd().split('\n');
      expect(lines).toContain('That was everything so far.');
      expect(lines).toContainEqual(expect.stringContaining('It says: A weekend in Lisbon!'));
      expect(lines).toContainEqual(expect.stringContaining("The agent's own event: trip.flights-found"));
      expect(lines.at(-1)).toBe('Cancelled: nobody is here');
    },
    LIMIT_MS,
  );

  test('names every status of a connection', () => {
    const [, union = ''] =
      /type ConnectionStatus = (.*);/.exec(readFileSync(path.join(root, 'src/client/connection.ts'), 'utf8')) ?? [];
    const statuses = [...union.matchAll(/'([\w-]+)'/g)].map(([, status]) => status);

    const [, table = ''] = /\| `status` \| \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];

    expect([...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, status]) => status)).toEqual(statuses);
  });

  test.each([
    ['createClient', /`createClient` has (\d+) kB/],
    ['createClient, createConversationStore', /and (\d+) kB together with `createConversationStore`/],
  ])('says what %s weighs', async (names, pattern) => {
    const { outputFiles } = await build({
      stdin: { contents: `export { ${names} } from ${JSON.stringify(CLIENT)}`, resolveDir: root },
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
    });
    const [, said = ''] = pattern.exec(page) ?? [];

    const kilobytes = gzipSync(outputFiles[0]?.contents ?? '').length / 1000;

    expect(kilobytes).toBeLessThanOrEqual(Number(said));
    expect(kilobytes).toBeGreaterThan(Number(said) - 2);
  });
});
