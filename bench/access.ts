/**
 * What it costs to know who asks: a token, a ticket, a session, a JWT by a secret and by a public key; beside the hash
 * alone, which is the least that a token can cost. `npm run bench:access -- 20000`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { createAccess } from '../src/access/access.ts';
import { createJwtVerifier } from '../src/access/jwt.ts';
import { hashSecret } from '../src/access/secret.ts';
import { createToken } from '../src/access/token-list.ts';
import { openSqliteAccess } from '../src/store/sqlite/access/open.ts';
import { median } from './support/median.ts';

const TIMES = Number(process.argv[2] ?? 20_000);
/** Beside the one that asks. */
const OTHER_TOKENS = 10_000;
const ROUNDS = 5;

const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
const store = openSqliteAccess(dir, 'server');
const scopes = ['tasks:read'] as const;
for (let n = 0; n < OTHER_TOKENS; n++) createToken(store, { owner: `owner-${n}`, scopes, expiresInMs: null });
const { token } = createToken(store, { owner: 'ann', scopes, expiresInMs: null });

const secret = new TextEncoder().encode('a secret of more than thirty-two bytes');
const who = { audience: 'holdfast', issuer: 'bench' };
const claims = { sub: 'ann', aud: who.audience, iss: who.issuer, exp: Math.floor(Date.now() / 1000) + 3600 };
const access = createAccess({
  mode: 'jwt',
  store,
  verifyJwt: createJwtVerifier({ keys: { secret }, ...who }),
  onTrouble(error) {
    throw error;
  },
});
const nothing = { bearer: null, ticket: null, session: null };
const principal = await access.authenticate({ ...nothing, bearer: token });
const subject = { taskId: null, conversationId: null };
const ticket = access.grantTicket(principal, subject, 600_000).secret;
const session = access.grantSession(principal).secret;
const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
const { publicKey, privateKey } = await generateKeyPair('ES256');
const es256 = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);

const ways: { [name: string]: () => unknown } = {
  'SHA-256 of a token': () => hashSecret(token),
  'a token': () => access.authenticate({ ...nothing, bearer: token }),
  'a ticket': () => access.authenticate({ ...nothing, ticket: { secret: ticket, subject } }),
  'a session': () => access.authenticate({ ...nothing, session }),
  'a JWT by a secret': () => access.authenticate({ ...nothing, bearer: jwt }),
  'a JWT by a public key (ES256)': () => jwtVerify(es256, publicKey, who),
};

const micros = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, ask] of Object.entries(ways)) {
    const startedAt = performance.now();
    for (let n = 0; n < TIMES; n++) await ask();
    // The first round is for warming up.
    if (round > 0) micros.get(name)?.push(((performance.now() - startedAt) * 1000) / TIMES);
  }
}
for (const [name, each] of micros) console.log(`${name}: ${median(each).toFixed(1)} µs (median of ${ROUNDS})`);
access.close();
store.close();
rmSync(dir, { recursive: true });
