import type { Cluster } from '../store/cluster.ts';
import type { Reconciling } from './reconciling.ts';
import { unlessFull } from './refusal.ts';

/**
 * That this process counts as living among others. When it has not been able to say so for nearly as long as it counts
 * without, it drops what it runs by itself, before another takes it over.
 *
 * @see docs/decisions/008-fence-every-write.md
 */
export interface Membership {
  /** By its own clock, looked at now: a process that was stopped for long finds out before it does anything else. */
  isAlive(): boolean;
  /** Renews the lease, and buries those whose leases are over. */
  tick(): Promise<void>;
  /** Renews from now on. Resolves when it was tried for the first time. */
  start(): Promise<void>;
  stop(): void;
}

/** How many times a lease is renewed while it lasts. */
const RENEWALS = 3;
/** Which part of a lease is left when what runs under it is dropped: it takes a while to stop. */
const MARGIN = 1 / 6;
/** Which part of a lease passes before a renewal that has failed is tried again. */
const RETRY = 1 / 30;

export interface MembershipOptions {
  cluster: Pick<Cluster, 'leaseMs' | 'renew' | 'buryDead'>;
  reconciling: Reconciling;
  /** Nothing that runs here may go on. */
  onExpired(): void;
  /** The lease holds again, or for the first time. */
  onAlive(): void;
  /** Others are dead, and what they ran is to be taken over. */
  onBuried(): void;
  /** Called when a renewal fails, and not for want of the database: a bug. */
  onFatal(error: unknown): void;
  /** Ms that go on while the process is stopped, from any beginning. */
  clock?: () => number;
}

export function createMembership(options: MembershipOptions): Membership {
  const { cluster, reconciling, onExpired, onAlive, onBuried, onFatal, clock = () => performance.now() } = options;
  const { leaseMs } = cluster;
  /** Until when the lease holds for certain; null while it does not. */
  let aliveUntil: number | null = null;
  let ticking = false;
  let timer: NodeJS.Timeout | null = null;
  let expiry: NodeJS.Timeout | null = null;
  let stopped = false;

  function isAlive(): boolean {
    if (aliveUntil === null) return false;
    if (clock() < aliveUntil) return true;
    aliveUntil = null;
    onExpired();
    arm(0);
    return false;
  }

  /** A timer comes a little early at times. */
  function watch(): void {
    if (!isAlive() || aliveUntil === null || stopped) return;
    if (expiry !== null) clearTimeout(expiry);
    expiry = setTimeout(watch, Math.ceil(aliveUntil - clock())).unref();
  }

  /** @param sentAt when the renewal was asked for: the lease runs from a later moment */
  function renewed(sentAt: number): void {
    const wasAlive = isAlive();
    aliveUntil = sentAt + leaseMs * (1 - MARGIN);
    watch();
    if (isAlive() && !wasAlive) onAlive();
  }

  async function tick(): Promise<void> {
    const before = reconciling.running();
    const sentAt = clock();
    const { held } = await cluster.renew();
    renewed(sentAt);
    await reconciling.reconcile(before, held);
    if ((await cluster.buryDead()) > 0) onBuried();
  }

  function arm(ms: number): void {
    if (stopped) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(turn, ms).unref();
  }

  async function turn(): Promise<void> {
    if (ticking) return;
    ticking = true;
    const done = await tick()
      .then(() => true, unlessFull)
      .catch(onFatal);
    ticking = false;
    arm(done === true ? leaseMs / RENEWALS : leaseMs * RETRY);
  }

  return {
    isAlive,
    tick,
    start: turn,
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      if (expiry !== null) clearTimeout(expiry);
    },
  };
}
