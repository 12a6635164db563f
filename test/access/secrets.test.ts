import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { SCOPES } from '../../src/model/access.ts';
import { createApi, TASK_AGENTS } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';
import { openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken, revokeTokenOf } from '../support/token.ts';

const SIGNING_SECRET = 'canary-signing-secret-of-more-than-32-bytes';
const BAD_TOKEN = 'hf_token_canary-that-is-not-good';
const AGENT_CANARY = 'canary-in-the-environment';

// Would fail if a header, a query or a cookie were logged, told in an error, or written down as it is.
test('what shows who somebody is stands in no log, no metric, no answer and no file', async () => {
  const dataDir = newDirectory();
  const secretFile = path.join(newDirectory(), 'secret');
  writeFileSync(secretFile, SIGNING_SECRET);
  const jwtFlags = ['--jwt-secret-file', secretFile, '--jwt-audience', 'holdfast', '--jwt-issuer', 'canary'];
  const server = await startServerProcess({
    dataDir,
    agents: TASK_AGENTS,
    flags: ['--auth', 'jwt', ...jwtFlags, '--log-level', 'trace'],
    env: { HOLDFAST_CANARY: AGENT_CANARY },
  });
  const { id, token } = await makeToken(dataDir, 'ann', SCOPES);
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { sub: 'ann', aud: 'holdfast', iss: 'canary', scope: SCOPES.join(' '), exp };
  const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SIGNING_SECRET));

  const answers: string[] = [];
  const api = createApi(server.url, token);
  const ask = async (send: Promise<{ text: string }>) => answers.push((await send).text);
  const { body: ticket } = await api.post<{ ticket: string }>('/v1/tickets');
  const { headers } = await api.post('/v1/session');
  const Cookie = headers.get('Set-Cookie')?.split(';')[0] ?? '';
  const anybody = createApi(server.url);
  for (const shown of [{ Authorization: `Bearer ${token}` }, { Authorization: `Bearer ${jwt}` }, { Cookie }]) {
    for (const each of ['/v1/tasks', '/v1/tasks/task_0', '/v1/none', '/v1/events?after=x', '/metrics', '/v1/session']) {
      await ask(anybody.get(each, shown));
    }
  }
  for (const each of [BAD_TOKEN, ticket.ticket, `${jwt}x`]) {
    await ask(anybody.get('/v1/tasks', { Authorization: `Bearer ${each}` }));
    await ask(anybody.get(`/v1/tasks?ticket=${each}`));
    await ask(anybody.get(`/v1/events?ticket=${each}`, { Accept: 'application/json' }));
  }
  await ask(api.post('/v1/tasks', { agent: 'thrower', input: 'Error' }));
  await ask(api.post('/v1/tasks', '{ not JSON'));
  const reader = await openSseReader(`${server.url}/v1/events?ticket=${ticket.ticket}`);
  await revokeTokenOf(dataDir, id);
  answers.push(...(await reader.rest()).map(({ data }) => data ?? ''));
  expect(await server.stop()).toBe(0);

  const secrets = [token, jwt, jwt.split('.')[2], ticket.ticket, Cookie.split('=')[1], BAD_TOKEN, SIGNING_SECRET];
  const plain = secrets.map((secret) => secret?.replace(/^hf_(token|ticket|session)_/, '') ?? '');
  expect(plain.every((secret) => secret.length >= 20)).toBe(true);
  const logged = server.stderr();
  expect(logged).toContain('"path":"/v1/events"');
  const files = readdirSync(dataDir).map((name) => readFileSync(path.join(dataDir, name), 'latin1'));
  for (const text of [logged, ...answers, ...files]) {
    for (const secret of [...plain, AGENT_CANARY]) expect(text.includes(secret)).toBe(false);
  }
});
