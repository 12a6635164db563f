import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { consoleOperations } from '../../src/http/console.ts';
import { createGate } from '../../src/http/gate.ts';
import { type HttpApp, type HttpEnv, mount } from '../../src/http/operation.ts';
import { sendProblem } from '../../src/http/problem.ts';
import { HoldfastError } from '../../src/model/error.ts';
import { openAccess } from '../support/open-access.ts';
import { createAppDouble, send } from './app-double.ts';

const PAGE = '<!doctype html><title>Holdfast</title><script type="module" src="console/console-1a2b.js"></script>';
const SCRIPT = 'document.title = "Holdfast";';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** The console over files of its own. */
function consoleOf(files: { [name: string]: string }): HttpApp {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-console-'));
  directories.push(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
  const app: HttpApp = new Hono<HttpEnv>();
  mount(app, consoleOperations(directory), createGate(openAccess()));
  app.onError((error, c) => {
    if (error instanceof HoldfastError) return sendProblem(c, error);
    throw error;
  });
  return app;
}

describe('the console', () => {
  test('is a page that browsers ask for anew each time', async () => {
    const response = await send(consoleOf({ 'console.html': PAGE }), '/');

    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Cache-Control')).toBe('no-cache');
    expect(await response.text()).toBe(PAGE);
  });

  test('may run nothing but its own scripts, and be framed by nobody', async () => {
    const { headers } = await send(consoleOf({ 'console.html': PAGE }), '/');

    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Referrer-Policy')).toBe('no-referrer');
  });

  test.each([
    ['console-1a2b.js', 'text/javascript; charset=utf-8'],
    ['console-3c4d.css', 'text/css; charset=utf-8'],
  ])('has parts that browsers keep for ever: %s', async (name, type) => {
    const response = await send(consoleOf({ 'console.html': PAGE, [name]: SCRIPT }), `/console/${name}`);

    expect(response.headers.get('Content-Type')).toBe(type);
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(await response.text()).toBe(SCRIPT);
  });

  test.each([
    ['gzip, br', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['br', null],
    ['gzip;q=0', null],
    ['gzip;q=0, br', null],
  ])('is compressed for whom that suits: Accept-Encoding: %s', async (accepted, encoding) => {
    const app = consoleOf({ 'console.html': PAGE });

    const response = await send(app, '/', { headers: { 'Accept-Encoding': accepted } });
    const bytes = Buffer.from(await response.arrayBuffer());

    expect(response.headers.get('Content-Encoding')).toBe(encoding);
    expect(response.headers.get('Vary')).toBe('Accept-Encoding');
    expect((encoding === null ? bytes : gunzipSync(bytes)).toString()).toBe(PAGE);
  });

  test.each(['unknown.js', 'console.html', 'notes.txt', '..%2fpackage.json', '%2e%2e%2f%2e%2e%2fpackage.json'])(
    'has no part %s',
    async (name) => {
      const app = consoleOf({ 'console.html': PAGE, 'notes.txt': 'not for the web' });

      expect((await send(app, `/console/${name}`)).status).toBe(404);
    },
  );

  test('keeps what it had when it started', async () => {
    const app = consoleOf({ 'console.html': PAGE, 'console-1a2b.js': SCRIPT });

    rmSync(directories[0] ?? '', { recursive: true });
    directories.length = 0;

    expect(await (await send(app, '/console/console-1a2b.js')).text()).toBe(SCRIPT);
  });

  test('says in plain words that it is not built', async () => {
    const response = await send(consoleOf({}), '/');

    expect(response.status).toBe(404);
    expect(response.headers.get('Content-Type')).toMatch(/^text\/plain/);
    expect(await response.text()).toBe('The console is not built. Run `npm run build`, and start the server again.\n');
  });
});

/** Compressed: what a phone on a bad day has to wait for. */
const MAX_BYTES = 80 * 1024;

test('every part of the console that is built comes from this server, below any prefix, and all weigh little', async () => {
  const { app } = createAppDouble();
  const page = await (await send(app, '/')).text();
  const parts = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, part = '']) => part);
  const files = parts.filter((part) => !part.startsWith('data:'));

  let bytes = 0;

  expect(files).toHaveLength(3);
  expect(page).not.toMatch(/<script>|<style|style=|\son\w+=/);
  for (const file of files) {
    expect(file).toMatch(/^console\/[a-z-]+-[0-9a-f]{12}\.(js|css)$/);
    const response = await send(app, `/${file}`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(response.status, file).toBe(200);
    bytes += (await response.arrayBuffer()).byteLength;
  }
  expect(bytes).toBeLessThan(MAX_BYTES);
});
