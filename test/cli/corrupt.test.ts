import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { prepareFile } from '../../src/store/sqlite/connection.ts';
import { cleanUp, startHoldfast, startServer, temporaryDirectory } from './running-server.ts';

const HEADER_BYTES = 4096;

afterEach(cleanUp);

/** docs/durability.md, and docs/operations.md, "When it does not start". */
test('a database that breaks ends the server, is refused at the next start, and is found by `holdfast check`', async () => {
  const server = await startServer('--log-level', 'warn');
  const { dataDir, url } = server;
  const file = path.join(dataDir, 'holdfast.db');

  overwrite(file);
  // What was read before is in memory until something is written.
  await Promise.allSettled([post(`${url}/v1/conversations`), fetch(`${url}/v1/tasks`)]);
  await fetch(`${url}/v1/tasks`).catch(() => {});

  expect(await server.exited).toBe(1);
  expect(server.stderr).toContain('storage_failed');

  const next = startHoldfast('serve', '--port', '0', '--data', dataDir);
  expect(await next.exited).toBe(1);
  expect(next.stderr).toMatch(new RegExp(`^error: ${file} is corrupt \\(.*\\); put back a backup.*\n$`));

  const check = startHoldfast('check', '--data', dataDir);
  expect(await check.exited).toBe(1);
  expect(check.stderr).toMatch(new RegExp(`^error: ${file} is corrupt.*\n$`));
});

test('`holdfast check` says of a whole database that it is', async () => {
  const dataDir = temporaryDirectory();
  prepareFile(dataDir);

  const check = startHoldfast('check', '--data', dataDir);

  expect(await check.exited).toBe(0);
  expect(check.stdout).toContain(`${path.join(dataDir, 'holdfast.db')} is whole`);
});

function post(url: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
}

/** All but the header is garbage from now on. */
function overwrite(file: string): void {
  const bytes = statSync(file).size - HEADER_BYTES;
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(bytes, 0xaa), 0, bytes, HEADER_BYTES);
  closeSync(descriptor);
}
