import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');
const BULK = '/-/npm/v1/security/advisories/bulk';

/** A registry with these advisories, and nothing else. */
async function registry(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === BULK) answer(request, response);
    else response.writeHead(404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function knowing(advisories: object): Promise<string> {
  return registry((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(advisories));
  });
}

function advisory(severity: string) {
  return [{ id: 1, url: 'https://example.com/1', title: 'It is bad', severity, vulnerable_versions: '<999' }];
}

async function audit(url: string, ci = ''): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, ['scripts/audit.mjs', '--registry', url], {
    cwd: ROOT,
    env: { ...process.env, CI: ci },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  return { code, said };
}

test('a package with a known fault fails the check, which names it', async () => {
  const { code, said } = await audit(await knowing({ hono: advisory('high') }));

  expect(code).toBe(1);
  expect(said).toContain('hono : It is bad (https://example.com/1)');
});

test('packages without one, or with a small one, or that only develop it, pass', async () => {
  const { code, said } = await audit(await knowing({ zod: advisory('low'), vitest: advisory('critical') }));

  expect({ code, said }).toEqual({ code: 0, said: '' });
});

test('a registry that cannot be reached fails it in CI alone, and is told of everywhere', async () => {
  const nowhere = 'http://127.0.0.1:1';

  const [here, there] = await Promise.all([audit(nowhere), audit(nowhere, 'true')]);

  expect([here.code, there.code]).toEqual([0, 1]);
  for (const { said } of [here, there]) expect(said).toContain('NOT checked');
});

test('a mirror without advisories is told of, and fails nothing', async () => {
  const { code, said } = await audit(await registry((_request, response) => response.writeHead(405).end()), 'true');

  expect(code).toBe(0);
  expect(said).toContain('NOT checked');
});

test('every dependency has its version to the letter, here and in the lock file', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));

  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(packages[`node_modules/${name}`].version, name).toBe(version);
  }
  for (const [name, entry] of Object.entries<{ integrity?: string; link?: boolean }>(packages)) {
    if (name !== '') expect(entry.integrity, name).toMatch(/^sha512-/);
  }
});
