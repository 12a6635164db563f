import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/access/access.ts';
import { hashSecret } from '../../src/access/secret.ts';
import { createToken } from '../../src/access/token-list.ts';
import { HoldfastError } from '../../src/model/error.ts';
import type { AccessStore } from '../../src/store/access.ts';
import { openAccess } from '../support/open-access.ts';
import type { AccessEngine } from './access-store.suite.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EVERYTHING = { taskId: null, conversationId: null };
const TASK = { taskId: 'task_1', conversationId: null };

/** What tickets and sessions are good for, on every engine. */
export function testGrants(engine: AccessEngine): void {
  describe(`on ${engine.name}`, () => {
    let store: AccessStore;
    const opened: Access[] = [];
    beforeAll(async () => {
      store = await engine.open();
    });
    afterAll(async () => {
      for (const access of opened) access.close();
      await store.close();
    });

    /** Who comes in by a clock that can be moved, with a new token. */
    async function open() {
      const clock = { now: Date.now() };
      const access = openAccess({ mode: 'token', store, now: () => clock.now });
      opened.push(access);
      const asked = { owner: 'ann', scopes: ['tasks:read', 'tasks:write'], expiresInMs: null } as const;
      const { id, token } = await createToken(store, asked);
      const nothing = { bearer: null, ticket: null, session: null };
      return {
        clock,
        access,
        id,
        byToken: (secret = token) => access.authenticate({ ...nothing, bearer: secret }),
        byTicket: (secret: string, subject = EVERYTHING as { taskId: string | null; conversationId: string | null }) =>
          access.authenticate({ ...nothing, ticket: { secret, subject } }),
        bySession: (secret: string) => access.authenticate({ ...nothing, session: secret }),
      };
    }

    describe('a ticket', () => {
      test('reads what it is for, as its owner, and nothing else', async () => {
        const { access, byToken, byTicket } = await open();
        const { secret } = await access.grantTicket(await byToken(), TASK, MINUTE);

        expect(await byTicket(secret, TASK)).toMatchObject({ owner: 'ann', scopes: ['tasks:read'] });
        await refused(byTicket(secret, { ...TASK, taskId: 'task_2' }));
        await refused(byTicket(secret, { taskId: null, conversationId: 'conv_1' }));
        await refused(byTicket(secret));
      });

      test('for everything opens every stream', async () => {
        const { access, byToken, byTicket } = await open();
        const { secret } = await access.grantTicket(await byToken(), EVERYTHING, MINUTE);
        for (const subject of [EVERYTHING, TASK, { taskId: null, conversationId: 'conv_1' }]) {
          expect((await byTicket(secret, subject)).owner).toBe('ann');
        }
      });

      test('is no token and no session, nor are those tickets', async () => {
        const { access, byToken, byTicket, bySession } = await open();
        const principal = await byToken();
        const ticket = (await access.grantTicket(principal, EVERYTHING, MINUTE)).secret;
        const session = (await access.grantSession(principal)).secret;
        await refused(byToken(ticket));
        await refused(bySession(ticket));
        await refused(byToken(session));
        await refused(byTicket(session));
      });

      test('opens nothing any more when its time is over', async () => {
        const { access, clock, byToken, byTicket } = await open();
        const { secret, expiresAt } = await access.grantTicket(await byToken(), TASK, MINUTE);
        expect(expiresAt).toBe(clock.now + MINUTE);
        clock.now += MINUTE - 1;
        await byTicket(secret, TASK);
        clock.now += 1;
        await refused(byTicket(secret, TASK));
      });

      // A plain EventSource comes back by the same URL after a tunnel.
      test('stays good for five minutes after what it has opened, and for twelve hours at most', async () => {
        const { access, clock, byToken, byTicket } = await open();
        const { secret } = await access.grantTicket(await byToken(), TASK, MINUTE);
        for (let at = 0; at < 12 * HOUR - 5 * MINUTE; at += 5 * MINUTE) {
          const principal = await byTicket(secret, TASK);
          expect(await access.isGood(principal)).toBe(true);
          access.hold(principal, () => {})();
          clock.now += 5 * MINUTE;
        }
        const last = await byTicket(secret, TASK);
        access.hold(last, () => {});
        clock.now += 5 * MINUTE;
        expect(await access.isGood(last)).toBe(false);
        await refused(byTicket(secret, TASK));
      });

      test('is not shortened by what it opens', async () => {
        const { access, clock, byToken, byTicket } = await open();
        const { secret } = await access.grantTicket(await byToken(), TASK, 10 * MINUTE);
        access.hold(await byTicket(secret, TASK), () => {})();
        clock.now += 10 * MINUTE - 1;
        await byTicket(secret, TASK);
      });

      test('goes with its token', async () => {
        const { access, clock, id, byToken, byTicket } = await open();
        const { secret } = await access.grantTicket(await byToken(), TASK, MINUTE);
        const principal = await byTicket(secret, TASK);
        await store.revokeToken(id, clock.now);
        expect(await access.isGood(principal)).toBe(false);
        await refused(byTicket(secret, TASK));
      });

      test('outlives neither a token that ends, nor what it was got with otherwise', async () => {
        const { access, clock, byToken, byTicket } = await open();
        const { token } = await createToken(store, { owner: 'ann', scopes: ['tasks:read'], expiresInMs: 2 * MINUTE });
        const { secret, expiresAt } = await access.grantTicket(await byToken(token), TASK, 10 * MINUTE);
        expect(expiresAt).toBeLessThanOrEqual(clock.now + 2 * MINUTE + 1000);
        const principal = await byTicket(secret, TASK);
        access.hold(principal, () => {});
        clock.now += 3 * MINUTE;
        expect(await access.isGood(principal)).toBe(false);
        await refused(byTicket(secret, TASK));
      });
    });

    describe('a session', () => {
      test('may what its token may, until it is ended', async () => {
        const { access, byToken, bySession } = await open();
        const principal = await byToken();
        const { secret } = await access.grantSession(principal);
        const inSession = await bySession(secret);
        expect(inSession).toMatchObject({ owner: 'ann', scopes: principal.scopes });
        await access.endSession(inSession);
        expect(await access.isGood(inSession)).toBe(false);
        await refused(bySession(secret));
      });

      test('ends after twelve hours, and with its token', async () => {
        const { access, clock, id, byToken, bySession } = await open();
        const { secret } = await access.grantSession(await byToken());
        clock.now += 12 * HOUR - 1;
        await bySession(secret);
        clock.now += 1;
        await refused(bySession(secret));
        const another = await access.grantSession(await byToken());
        await store.revokeToken(id, clock.now);
        await refused(bySession(another.secret));
      });

      test('takes with it what was got with it, at however many removes', async () => {
        const { access, byToken, byTicket, bySession } = await open();
        const first = await bySession((await access.grantSession(await byToken())).secret);
        const second = await bySession((await access.grantSession(first)).secret);
        const third = (await access.grantSession(second)).secret;
        const ticket = (await access.grantTicket(await bySession(third), TASK, MINUTE)).secret;
        const principal = await byTicket(ticket, TASK);
        await access.endSession(first);
        await refused(bySession(third));
        await refused(byTicket(ticket, TASK));
        expect(await access.isGood(principal)).toBe(false);
      });

      test('gives no ticket any more once it has ended', async () => {
        const { access, byToken, bySession } = await open();
        const inSession = await bySession((await access.grantSession(await byToken())).secret);
        await access.endSession(inSession);
        await refused(access.grantTicket(inSession, TASK, MINUTE));
      });

      test('takes its tickets with it', async () => {
        const { access, byToken, byTicket, bySession } = await open();
        const inSession = await bySession((await access.grantSession(await byToken())).secret);
        const { secret } = await access.grantTicket(inSession, TASK, MINUTE);
        const principal = await byTicket(secret, TASK);
        await access.endSession(inSession);
        expect(await access.isGood(principal)).toBe(false);
        await refused(byTicket(secret, TASK));
      });
    });

    test('what opens nothing any more is forgotten as others are made, and what holds something open is not', async () => {
      const { access, clock, byToken, byTicket } = await open();
      const principal = await byToken();
      const unused = hashSecret((await access.grantTicket(principal, TASK, MINUTE)).secret);
      const { secret } = await access.grantTicket(principal, TASK, MINUTE);
      const session = hashSecret((await access.grantSession(principal)).secret);
      const held = await byTicket(secret, TASK);
      access.hold(held, () => {});
      clock.now += 11 * MINUTE;
      expect(await store.grants([unused])).toHaveLength(1);
      clock.now += 1;
      await access.grantTicket(principal, TASK, MINUTE);
      expect(await store.grants([unused])).toEqual([]);
      expect(await store.grants([hashSecret(secret)])).toHaveLength(1);
      expect(await store.grants([session])).toHaveLength(1);
    });
  });
}

async function refused(asked: Promise<unknown>): Promise<void> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect((error as HoldfastError).code).toBe('unauthorized');
}
