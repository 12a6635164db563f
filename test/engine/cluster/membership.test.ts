import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMembership, type Membership } from '../../../src/engine/membership.ts';
import { createGate, type Gate } from './gate.ts';
import { openSharedStore, type SharedStore, type View } from './shared-store.ts';

const LEASE_MS = 30_000;

let shared: SharedStore;
let view: View;
let membership: Membership;
let clock: number;
let happened: string[];
/** While set, renewals wait for it before they are answered. */
let gate: Gate | null;

beforeEach(() => {
  clock = 1000;
  happened = [];
  gate = null;
  shared = openSharedStore({ now: () => clock });
  view = shared.view('here', { leaseMs: LEASE_MS });
  membership = createMembership({
    cluster: {
      ...view.cluster,
      async renew() {
        const renewed = await view.cluster.renew();
        await gate?.wait();
        return renewed;
      },
    },
    reconciling: { running: () => [], reconcile: async () => void happened.push('reconciled') },
    onExpired: () => happened.push('expired'),
    onAlive: () => happened.push('alive'),
    onBuried: () => happened.push('buried'),
    onFatal(error) {
      throw error;
    },
    clock: () => clock,
  });
});

afterEach(async () => {
  membership.stop();
  await shared.base.close();
});

test('A node counts as living only once it has said so', async () => {
  expect(membership.isAlive()).toBe(false);

  await membership.tick();

  expect(membership.isAlive()).toBe(true);
  expect(happened).toEqual(['alive', 'reconciled']);
});

test('A node whose renewals fail drops what it runs before its lease is over, and once', async () => {
  await membership.tick();

  clock += LEASE_MS * 0.8;
  expect(membership.isAlive()).toBe(true);
  clock += LEASE_MS * 0.1;

  expect(membership.isAlive()).toBe(false);
  expect(membership.isAlive()).toBe(false);
  expect(happened).toEqual(['alive', 'reconciled', 'expired']);
});

test('A renewal counts from when it was asked for: one that is answered too late is none', async () => {
  await membership.tick();
  gate = createGate();

  const renewing = membership.tick();
  await new Promise(setImmediate);
  clock += LEASE_MS;
  gate.letOne();
  await renewing;

  expect(membership.isAlive()).toBe(false);
  expect(happened.filter((what) => what !== 'reconciled')).toEqual(['alive', 'expired', 'expired']);
});

test('A node that was taken for dead goes on under another name', async () => {
  await membership.tick();
  clock += LEASE_MS + 1;
  await shared.view('there').cluster.buryDead();

  await membership.tick();

  expect(view.node).toBe('here+');
  expect(membership.isAlive()).toBe(true);
  expect(happened).toEqual(['alive', 'reconciled', 'expired', 'alive', 'reconciled']);
});

test('A node buries those who have not renewed their leases', async () => {
  const late = shared.view('late', { leaseMs: LEASE_MS });
  clock += LEASE_MS + 1;

  await membership.tick();
  await late.cluster.renew();

  expect(late.node).toBe('late+');
  expect(view.node).toBe('here');
  expect(happened).toEqual(['alive', 'reconciled', 'buried']);
});
