import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createJwtVerifier } from '../../src/access/jwt.ts';
import { EVERYDAY_SCOPES } from '../../src/model/access.ts';

const SECRET = new TextEncoder().encode('a secret of more than thirty-two bytes');
const WHO = { audience: 'holdfast', issuer: 'https://login.example.com' };
const bySecret = createJwtVerifier({ keys: { secret: SECRET }, ...WHO });

interface Claims {
  [claim: string]: unknown;
}

function jwtOf(claims: Claims = {}, alg = 'HS256', kid?: string): SignJWT {
  const now = Math.floor(Date.now() / 1000);
  const good = { sub: 'ann', aud: 'holdfast', iss: 'https://login.example.com', exp: now + 60, ...claims };
  return new SignJWT(good).setProtectedHeader({ alg, ...(kid !== undefined && { kid }) });
}

describe('a JWT with a shared secret', () => {
  test('names its owner by `sub`, with the everyday scopes', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const principal = await bySecret(await jwtOf({ exp }).sign(SECRET));
    expect(principal).toMatchObject({ owner: 'ann', scopes: EVERYDAY_SCOPES, credential: { kind: 'jwt' } });
    expect(principal?.expiresAt).toBeGreaterThanOrEqual(exp * 1000);
  });

  test.each<[string, Claims, string[]]>([
    ['scope', { scope: 'openid tasks:read impersonate' }, ['tasks:read', 'impersonate']],
    ['scp', { scp: ['tasks:write', 'email'] }, ['tasks:write']],
    ['a scope that has none of ours', { scope: 'openid' }, []],
    ['a scope that says it twice', { scope: 'tasks:read tasks:read' }, ['tasks:read']],
    ['a scope that is no text', { scope: { toString: 1 } }, []],
  ])('may what %s says', async (_name, claims, scopes) => {
    expect((await bySecret(await jwtOf(claims).sign(SECRET)))?.scopes).toEqual(scopes);
  });

  test.each<[string, Claims]>([
    ['for somebody else', { aud: 'another' }],
    ['of somebody else', { iss: 'https://evil.example.com' }],
    ['that has ended', { exp: 1 }],
    ['that is not yet good', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['without an end', { exp: undefined }],
    ['of nobody', { sub: undefined }],
    ['of whom no header could name', { sub: 'a\nb' }],
    ['with too long a name', { sub: 'x'.repeat(256) }],
    ['whose `sub` is a list', { sub: ['ann'] }],
    ['whose `sub` is a number', { sub: 4711 }],
    ['whose `sub` is null', { sub: null }],
    ['whose end is a text', { exp: 'tomorrow' }],
    ['that ended just now', { exp: Math.floor(Date.now() / 1000) - 1 }],
  ])('%s is refused', async (_name, claims) => {
    expect(await bySecret(await jwtOf(claims).sign(SECRET))).toBeNull();
  });

  test('that nobody, or somebody else, has signed is refused', async () => {
    const claims = { sub: 'ann', ...{ aud: WHO.audience, iss: WHO.issuer }, exp: Date.now() };
    expect(await bySecret(new UnsecuredJWT(claims).encode())).toBeNull();
    const another = new TextEncoder().encode('another secret of more than thirty-two bytes');
    expect(await bySecret(await jwtOf().sign(another))).toBeNull();
    expect(await bySecret('a.b.c')).toBeNull();
  });
});

/** Publishes keys as a sign-in service does. */
async function publish(keys: () => { status: number; body: object }): Promise<URL> {
  const server = createServer((_request, response) => {
    const { status, body } = keys();
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`);
}

test('a JWT that lasts for ever has an end that can be told', async () => {
  const principal = await bySecret(await jwtOf({ exp: 8.64e12 + 1 }).sign(SECRET));
  expect(new Date(principal?.expiresAt ?? Number.NaN).toISOString()).toMatch(/^\+275760/);
});

describe('a JWT with a public key', () => {
  test('is good when a key that is published has signed it', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
    const verify = createJwtVerifier({
      keys: { jwks: await publish(() => ({ status: 200, body: { keys: [key] } })) },
      ...WHO,
    });
    expect(await verify(await jwtOf({}, 'ES256', 'one').sign(privateKey))).toMatchObject({ owner: 'ann' });
    const another = await generateKeyPair('ES256');
    expect(await verify(await jwtOf({}, 'ES256', 'one').sign(another.privateKey))).toBeNull();
    expect(await verify(await jwtOf({}, 'ES256', 'two').sign(privateKey))).toBeNull();
  });

  // The oldest trick: what everybody knows, the public key, taken for the secret of an HMAC.
  test('is never checked as if the key were a secret', async () => {
    const { publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const verify = createJwtVerifier({
      keys: { jwks: await publish(() => ({ status: 200, body: { keys: [{ ...jwk, kid: 'one' }] } })) },
      ...WHO,
    });
    const asSecret = new TextEncoder().encode(JSON.stringify(jwk));
    expect(await verify(await jwtOf({}, 'HS256', 'one').sign(asSecret))).toBeNull();
  });

  test.each([
    ['are not there', { status: 500, body: {} }],
    ['are none', { status: 200, body: { no: 'keys' } }],
  ])('can be judged neither way while the keys %s', async (_name, answer) => {
    const verify = createJwtVerifier({ keys: { jwks: await publish(() => answer) }, ...WHO });
    const { privateKey } = await generateKeyPair('ES256');
    const text = await jwtOf({}, 'ES256', 'one').sign(privateKey);
    await expect(verify(text)).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('does not have keys that cannot be had asked for again and again', async () => {
    let asked = 0;
    const jwks = await publish(() => {
      asked += 1;
      return { status: 500, body: {} };
    });
    const verify = createJwtVerifier({ keys: { jwks }, ...WHO });
    const { privateKey } = await generateKeyPair('ES256');
    for (let n = 0; n < 20; n++) {
      const text = await jwtOf({}, 'ES256', `made-up-${n}`).sign(privateKey);
      await expect(verify(text)).rejects.toMatchObject({ code: 'overloaded' });
    }
    expect(asked).toBe(1);
  });
});
