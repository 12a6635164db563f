import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAILPOINTS, type Failpoint, failpoint } from '../../src/failpoint.ts';
import { type CodeCopy, copyCode } from './failpoint-copy.ts';
import { failpointEnv } from './failpoint-env.ts';
import { startCopy } from './failpoint-server.ts';
import { POWER_CUT_AGENTS } from './power-cut.ts';

const SRC = path.join(import.meta.dirname, '../../src');
const USE = /\bfailpoint\?\.\('([^']*)'\)/g;
/** How `name: file` stands in the source, but for the comments. */
const uses = readdirSync(SRC, { encoding: 'utf8', recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const code = readFileSync(path.join(SRC, file), 'utf8').replace(/^\s*\/?\*.*$/gm, '');
    return [...code.matchAll(USE)].map(([, name]) => `${name}: ${file.replaceAll(path.sep, '/')}`);
  })
  .sort();

describe('A failpoint', () => {
  test('is nothing in what is shipped', () => {
    expect(failpoint).toBeNull();
  });

  test('stands once, in the file that the list says', () => {
    expect(uses).toEqual(
      Object.entries(FAILPOINTS)
        .map((entry) => entry.join(': '))
        .sort(),
    );
  });
});

describe('An armed failpoint', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-failpoint-'));
  let copy: CodeCopy;
  beforeAll(() => {
    copy = copyCode([POWER_CUT_AGENTS]);
  });
  afterAll(() => {
    copy.remove();
    rmSync(dir, { recursive: true });
  });

  test.for<[name: Failpoint, thread: string]>([
    ['committed-not-published', 'the main thread'],
    ['written-not-committed', 'thread'],
    ['step-started-not-run', 'thread'],
  ])('%s kills the process when %s passes it for the second time', async ([name, thread]) => {
    const env = failpointEnv(name, 2);
    const server = startCopy(copy, { dataDir: path.join(dir, name), agents: POWER_CUT_AGENTS, env });

    const body = JSON.stringify({ agent: 'clerk' });
    const headers = { 'Content-Type': 'application/json' };
    for (let isThere = true; isThere; ) {
      const created = server.url.then((url) => fetch(`${url}/v1/tasks?wait=1`, { method: 'POST', headers, body }));
      isThere = await created.then(
        () => true,
        () => false,
      );
    }

    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(server.stderr()).toContain(`failpoint ${name}:2 in ${thread}`);
  });
});
