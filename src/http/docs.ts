import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { HoldfastError } from '../model/error.ts';
import type { HttpContext, Operation } from './operation.ts';
import { pageHeaders } from './security-headers.ts';

const ASSETS = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The files of swagger-ui that the page uses, and no others. */
const TYPES = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** Relative, so that the page works below a proxy's prefix too. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Holdfast API</title>
    <link rel="icon" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null });\n`;

/** swagger-ui writes style attributes and has its icons in `data:` URLs; everything else comes from here. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The reference page, served from disk: it works without the internet. @see docs/protocol.md §10 */
export function docsOperations(): Operation[] {
  return [
    {
      id: 'docs',
      method: 'get',
      path: '/docs',
      access: 'anyone',
      summary: 'This description of the API, as a page',
      answers: { 200: { description: 'The page.', type: 'text/html' } },
      errors: [],
      handle: (c) => send(c, PAGE, 'text/html; charset=utf-8'),
    },
    {
      id: 'docsFile',
      method: 'get',
      path: '/docs/{file}',
      access: 'anyone',
      summary: 'A part of that page',
      answers: { 200: { description: 'The file.', type: '*/*' } },
      errors: ['not_found'],
      async handle(c) {
        const file = c.req.param('file') ?? '';
        if (file === 'start.js') return send(c, START, 'text/javascript; charset=utf-8');
        const type = TYPES.get(file);
        if (type === undefined) throw new HoldfastError('not_found', 'The page has no such file.');
        return send(c, new Uint8Array(await readFile(path.join(ASSETS, file))), type);
      },
    },
  ];
}

function send(c: HttpContext, content: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return c.body(content, 200, {
    'Content-Type': type,
    'Cache-Control': 'no-cache',
    ...pageHeaders(POLICY),
  });
}
