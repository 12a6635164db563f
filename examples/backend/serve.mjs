/**
 * A server of yours with users of its own, who share one Holdfast and see nothing of each other. It passes `/v1` on, with
 * its token and the name of whoever has signed in. The token has the scope `impersonate`; see docs/security.md.
 *
 *     npm run tokens -- create --owner backend --scopes impersonate,tasks:read,tasks:write,questions:answer
 *     npm start -- --auth token
 *     HOLDFAST_TOKEN=hf_token_… node examples/backend/serve.mjs [url] [port]
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { pipeline } from 'node:stream';

const [, , target = 'http://127.0.0.1:4747', port = '8000'] = process.argv;
/** @type {Map<string, string>} who has signed in, by the secret in their cookie: in place of your own sign-in */
const users = new Map();

const server = http.createServer((request, response) => {
  const { method, url: path = '/', headers } = request;
  const [, name] = /^\/sign-in\/([a-z]+)$/.exec(path) ?? [];
  if (method === 'POST' && name !== undefined) {
    const session = randomUUID();
    users.set(session, `user-${name}`);
    response.writeHead(204, { 'set-cookie': `session=${session}; HttpOnly; SameSite=Strict; Path=/` }).end();
    return;
  }
  const user = users.get(/\bsession=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
  if (user === undefined || !path.startsWith('/v1/')) {
    response.writeHead(user === undefined ? 401 : 404).end();
    return;
  }
  // Nothing that a user sends says who they are: these are set here, and the cookie stays here.
  const { cookie, ...passedOn } = headers;
  const own = { authorization: `Bearer ${process.env.HOLDFAST_TOKEN}`, 'holdfast-owner': user };
  const passed = http.request(target, { method, path, headers: { ...passedOn, ...own } }, (answer) => {
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
  console.log(`Serves http://127.0.0.1:${address.port}/`);
});
