import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessStore, GrantRecord, TokenRecord } from '../../src/store/access.ts';

export interface AccessEngine {
  name: string;
  /** Opens an empty store, or that of `dir` again, which is the name of nothing else whatever the engine makes of it. */
  open(dir?: string): Promise<AccessStore>;
}

/** Epoch ms, as large as any that is stored. */
const LATEST = 8.64e15;
let made = 0;

function newToken(more: Partial<TokenRecord> = {}): TokenRecord & { hash: string } {
  const name = `${++made}`.padStart(4, '0');
  return {
    ...{ id: `tok_${name}`, hash: `hash of ${name}`, owner: 'ann', scopes: ['tasks:read', 'admin'] },
    ...{ createdAt: made, expiresAt: null, lastUsedAt: null, revokedAt: null },
    ...more,
  };
}

function newGrant(more: Partial<GrantRecord> = {}): GrantRecord {
  return {
    ...{ hash: `grant ${++made}`, kind: 'session', tokenId: null, sessionHash: null, owner: 'ann' },
    ...{ scopes: ['tasks:read'], subject: null, createdAt: 1, openUntil: 1000, endsAt: 5000 },
    ...more,
  };
}

function withoutHash({ hash: _, ...token }: TokenRecord & { hash: string }): TokenRecord {
  return token;
}

/** What every engine must do. */
export function testAccessStore(engine: AccessEngine): void {
  describe(`who may come in, on ${engine.name}:`, () => {
    const dir = `access of ${engine.name}`;
    let store: AccessStore;
    /** Of another process, as it were. */
    let other: AccessStore;
    beforeAll(async () => {
      store = await engine.open(dir);
      other = await engine.open(dir);
    });
    afterAll(() => Promise.all([store.close(), other.close()]));

    describe('a token', () => {
      test('is found by its hash and by its id, at once and by everybody', async () => {
        const token = newToken({ owner: '!~'.repeat(127), expiresAt: LATEST });
        await store.addToken(token);

        for (const each of [store, other]) {
          expect(await each.tokenByHash(token.hash)).toEqual(withoutHash(token));
          expect(await each.tokens(['tok_none', token.id])).toEqual([withoutHash(token)]);
        }
        expect(await store.tokenByHash(token.id)).toBeNull();
        expect(await store.tokens([])).toEqual([]);
      });

      test('stands in the list behind the older ones, whoever was asked for first', async () => {
        const [first, second, third] = [newToken(), newToken(), newToken()];
        const tie = newToken({ createdAt: third.createdAt });
        for (const token of [third, first, tie, second]) await store.addToken(token);

        const ids = [first, second, third, tie].map(({ id }) => id);

        expect((await store.tokens()).map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids);
        expect((await store.tokens(ids.toReversed())).map(({ id }) => id)).toEqual(ids);
      });

      test('is revoked once, and stays so', async () => {
        const token = newToken();
        await store.addToken(token);

        expect(await store.revokeToken(token.id, 70)).toBe(true);
        expect(await other.revokeToken(token.id, 80)).toBe(true);
        expect(await store.revokeToken('tok_none', 70)).toBe(false);
        expect((await other.tokenByHash(token.hash))?.revokedAt).toBe(70);
      });

      test('knows when it was used last, but for the minute', async () => {
        const token = newToken();
        await store.addToken(token);

        await store.touchToken(token.id, 60_000);
        await store.touchToken(token.id, 120_000);

        expect((await other.tokens([token.id]))[0]?.lastUsedAt).toBe(120_000);
      });
    });

    describe('a grant', () => {
      test('is found with its token as that is now', async () => {
        const token = newToken();
        await store.addToken(token);
        const subject = { taskId: 'task_1', conversationId: null };
        const grant = newGrant({ kind: 'ticket', tokenId: token.id, subject });
        const loose = newGrant({ endsAt: LATEST });

        expect(await store.addGrant(grant)).toBe(true);
        expect(await store.addGrant(loose)).toBe(true);
        await store.revokeToken(token.id, 70);

        expect(await other.grants([grant.hash, 'none'])).toEqual([
          { ...grant, token: { ...withoutHash(token), revokedAt: 70 } },
        ]);
        expect(await other.grants([loose.hash])).toEqual([{ ...loose, token: null }]);
        expect(await other.grants([])).toEqual([]);
        expect(await other.grants([grant.hash, loose.hash])).toHaveLength(2);
      });

      test('goes with its session, at however many removes', async () => {
        const session = newGrant();
        const below = newGrant({ sessionHash: session.hash });
        const ticket = newGrant({
          kind: 'ticket',
          sessionHash: below.hash,
          subject: { taskId: null, conversationId: null },
        });
        const apart = newGrant();
        for (const grant of [session, below, ticket, apart]) await store.addGrant(grant);

        await store.removeGrant(session.hash);

        const left = await other.grants([session, below, ticket, apart].map(({ hash }) => hash));
        expect(left.map(({ hash }) => hash)).toEqual([apart.hash]);
      });

      test('is not added for a session that has ended, whoever has ended it', async () => {
        const session = newGrant();
        const below = newGrant({ sessionHash: session.hash });
        for (const grant of [session, below]) await store.addGrant(grant);
        await other.removeGrant(session.hash);

        for (const sessionHash of [session.hash, below.hash]) {
          const late = newGrant({ sessionHash });
          expect(await store.addGrant(late)).toBe(false);
          expect(await store.grants([late.hash])).toEqual([]);
        }
      });

      test('is either not added, or gone, when its session ends at the same time', async () => {
        for (let round = 0; round < 50; round++) {
          const session = newGrant();
          const ticket = newGrant({ sessionHash: session.hash });
          await store.addGrant(session);

          await Promise.all([store.addGrant(ticket), other.removeGrant(session.hash)]);

          expect(await store.grants([ticket.hash])).toEqual([]);
        }
      });

      test('is extended, never for shorter than before and no longer than it lasts', async () => {
        const grant = newGrant({ openUntil: 1000, endsAt: 5000 });
        await store.addGrant(grant);
        const openUntil = async (until: number) => {
          await store.extendGrants([grant.hash, 'none'], until);
          return (await other.grants([grant.hash]))[0]?.openUntil;
        };

        expect(await openUntil(3000)).toBe(3000);
        expect(await openUntil(2000)).toBe(3000);
        expect(await openUntil(9000)).toBe(5000);
        await store.extendGrants([], 9000);
      });

      test('is forgotten when it has opened nothing for long, a few at a time', async () => {
        const apart = await engine.open();
        const closed = [10, 20, 30].map((openUntil) => newGrant({ openUntil }));
        const open = newGrant({ openUntil: 40 });
        for (const grant of [...closed, open]) await apart.addGrant(grant);
        const left = async () => (await apart.grants([...closed, open].map(({ hash }) => hash))).length;

        await apart.removeClosedGrants(10, 2);
        expect(await left()).toBe(4);
        await apart.removeClosedGrants(40, 2);
        expect(await left()).toBe(2);
        await apart.removeClosedGrants(40, 2);
        expect(await apart.grants([open.hash])).toHaveLength(1);
        await apart.close();
      });
    });

    describe('its version', () => {
      test('stays while nothing ends, and is another one when others have ended something', async () => {
        const token = newToken();
        const session = newGrant();
        await store.addToken(token);
        await store.addGrant(session);
        const before = await store.version();
        expect(await store.version()).toBe(before);

        await other.revokeToken(token.id, 70);
        const revoked = await store.version();
        expect(revoked).not.toBe(before);

        await other.removeGrant(session.hash);
        expect(await store.version()).not.toBe(revoked);
      });
    });

    test('tells the time', () => {
      expect(Math.abs(store.now() - Date.now())).toBeLessThan(5000);
    });

    test('is asked nothing any more once it is closed', async () => {
      const closed = await engine.open(dir);

      await Promise.all([closed.tokens(), closed.close()]);

      await expect(closed.tokens()).rejects.toThrow();
    });
  });
}
