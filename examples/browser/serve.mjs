/**
 * Serves the page, and passes `/v1` on to Holdfast, so that both are of one origin. Run it beside `npm start`:
 * `node examples/browser/serve.mjs [url] [port]`.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { pipeline } from 'node:stream';

const [, , target = 'http://127.0.0.1:4747', port = '8000'] = process.argv;
const page = readFileSync(new URL('index.html', import.meta.url));

const server = http.createServer((request, response) => {
  const { method, url: path = '/', headers } = request;
  if (!path.startsWith('/v1/')) {
    response.writeHead(path === '/' ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    return;
  }
  const passed = http.request(target, { method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
    // Each piece as it comes; when one side breaks off, so does the other.
    pipeline(answer, response, () => {});
  });
  passed.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`Open http://127.0.0.1:${address.port}/`);
});
