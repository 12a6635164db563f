import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { HoldfastError } from '../model/error.ts';
import type { HttpContext, Operation } from './operation.ts';
import { pageHeaders } from './security-headers.ts';

/** What `scripts/build-web.mjs` has made; as far away from `src/http` as from `dist/http`. */
const BUILT = fileURLToPath(new URL('../../dist/web', import.meta.url));
const PAGE = 'console.html';

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
]);

/** Everything comes from here, and nothing of it stands in the page itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_BUILT = 'The console is not built. Run `npm run build`, and start the server again.\n';

interface ConsoleFile {
  type: string;
  content: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
}

/**
 * The console: a page, and the files that it names, which browsers may keep for ever since their names hold their hash.
 * They are read once, so that building anew under a running server does not take them away from it.
 *
 * @param directory where they are; without the page in it, `/` says that there is none
 */
export function consoleOperations(directory = BUILT): Operation[] {
  const files = filesIn(directory);
  return [
    {
      id: 'console',
      method: 'get',
      path: '/',
      access: 'anyone',
      summary: 'The console, a page for people',
      answers: { 200: { description: 'The page.', type: 'text/html' } },
      errors: ['not_found'],
      handle(c) {
        const page = files.get(PAGE);
        return page === undefined ? c.text(NOT_BUILT, 404) : send(c, page, 'no-cache');
      },
    },
    {
      id: 'consoleFile',
      method: 'get',
      path: '/console/{asset}',
      access: 'anyone',
      summary: 'A part of that page',
      answers: { 200: { description: 'The file.', type: '*/*' } },
      errors: ['not_found'],
      handle(c) {
        const name = c.req.param('asset') ?? '';
        const file = name === PAGE ? undefined : files.get(name);
        if (file === undefined) throw new HoldfastError('not_found', 'The console has no such file.');
        return send(c, file, 'public, max-age=31536000, immutable');
      },
    },
  ];
}

function filesIn(directory: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  for (const name of namesIn(directory)) {
    const type = TYPES.get(path.extname(name));
    if (type === undefined) continue;
    const content = new Uint8Array(readFileSync(path.join(directory, name)));
    files.set(name, { type, content, gzipped: new Uint8Array(gzipSync(content)) });
  }
  return files;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function send(c: HttpContext, { type, content, gzipped }: ConsoleFile, cacheControl: string): Response {
  const zips = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(c.req.header('Accept-Encoding') ?? '');
  return c.body(zips ? gzipped : content, 200, {
    'Content-Type': type,
    ...(zips && { 'Content-Encoding': 'gzip' }),
    Vary: 'Accept-Encoding',
    'Cache-Control': cacheControl,
    ...pageHeaders(POLICY),
  });
}
