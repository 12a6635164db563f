/**
 * What it costs to know who asks: a token, a ticket, a session, a JWT by a secret and by a public key; beside the hash
 * alone, which is the least that a token can cost. And to count the request. With the URL of a PostgreSQL, in which it
 * leaves what it has made, the same there, with a hundred at a time as well. `npm run bench:access -- 20000 [URL]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { createAccess } from '../src/access/access.ts';
import { createJwtVerifier } from '../src/access/jwt.ts';
import { hashSecret } from '../src/access/secret.ts';
import { createToken } from '../src/access/token-list.ts';
import { createRequestCount } from '../src/http/request-count.ts';
import { openPostgresAccess } from '../src/store/postgres/access/open.ts';
import { openSqliteAccess } from '../src/store/sqlite/access/open.ts';
import { median } from './support/median.ts';

const [times = '20000', database] = process.argv.slice(2);
const TIMES = Number(times);
/** Beside the one that asks. */
const OTHER_TOKENS = 10_000;
const ROUNDS = 5;
const AT_ONCE = 100;

const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
const store = database === undefined ? openSqliteAccess(dir, 'server') : await openPostgresAccess({ url: database });
const scopes = ['tasks:read'] as const;
for (let n = 0; n < OTHER_TOKENS; n++) await createToken(store, { owner: `owner-${n}`, scopes, expiresInMs: null });
const { token } = await createToken(store, { owner: 'ann', scopes, expiresInMs: null });

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
const ticket = (await access.grantTicket(principal, subject, 600_000)).secret;
const session = (await access.grantSession(principal)).secret;
const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
const { publicKey, privateKey } = await generateKeyPair('ES256');
const es256 = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
const count = createRequestCount(Number.MAX_SAFE_INTEGER, 60, store.counts);
const limited = createRequestCount(6000, 60, store.counts);

const ways: { [name: string]: () => unknown } = {
  'SHA-256 of a token': () => hashSecret(token),
  'a token': () => access.authenticate({ ...nothing, bearer: token }),
  'a ticket': () => access.authenticate({ ...nothing, ticket: { secret: ticket, subject } }),
  'a session': () => access.authenticate({ ...nothing, session }),
  'a JWT by a secret': () => access.authenticate({ ...nothing, bearer: jwt }),
  'a JWT by a public key (ES256)': () => jwtVerify(es256, publicKey, who),
  'to count a request': () => count.add('ann'),
  'to count one of 6,000 owners': () => limited.add(`owner-${Math.floor(Math.random() * 6000)}`),
};
const { counts } = store;
if (counts !== null) {
  const one = new Map([['bob', 1]]);
  ways['to count a request in the database each time'] = () => counts.add(one, 60_000);
}

await compare('one at a time', TIMES, (ask) => ask());
if (database !== undefined) {
  const together = (ask: () => unknown) => Promise.all(Array.from({ length: AT_ONCE }, ask));
  await compare(`${AT_ONCE} at a time`, Math.ceil(TIMES / AT_ONCE), together, AT_ONCE);
}
count.close();
limited.close();
access.close();
await store.close();
rmSync(dir, { recursive: true });

/** @param each how many are asked by a run */
async function compare(how: string, runs: number, run: (ask: () => unknown) => unknown, each = 1): Promise<void> {
  const micros = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, ask] of Object.entries(ways)) {
      const startedAt = performance.now();
      for (let n = 0; n < runs; n++) await run(ask);
      // The first round is for warming up.
      if (round > 0) micros.get(name)?.push(((performance.now() - startedAt) * 1000) / runs / each);
    }
  }
  for (const [name, times] of micros) {
    console.log(`${name}, ${how}: ${median(times).toFixed(1)} µs (median of ${ROUNDS})`);
  }
}
