import { setImmediate as others } from 'node:timers/promises';
import type { Principal } from '../model/access.ts';
import { StoreError } from '../store/store.ts';

/** Who holds something open. */
export interface Holds {
  /**
   * For as long as something stays open that was opened once.
   *
   * @param onEnded called once, within a second, when the principal is not good any more; later while the database cannot
   *   be asked, but for what ends by its time
   * @returns what lets go of it
   */
  hold(principal: Principal, onEnded: () => void): () => void;
  /** Something has ended that this process itself has ended. */
  lookSoon(): void;
  /** Watches no more. */
  close(): void;
}

export interface HoldOptions {
  /** Which of these are good, in their order. */
  areGood(principals: readonly Principal[]): Promise<boolean[]>;
  /** What these grants have opened is open: at once, and then every minute. */
  extend(hashes: readonly string[]): Promise<void>;
  /** Another number whenever another process may have ended something. */
  version(): Promise<number>;
  onTrouble(error: unknown): void;
  /** Epoch ms. */
  now(): number;
}

interface Hold {
  principal: Principal;
  onEnded(): void;
  /** Whether it must be asked again if the principal is good: since it was let in something may have ended. */
  isDue: boolean;
}

const LOOK_MS = 500;
const EXTEND_MS = 60_000;
/** So many are asked for, or written, at a time: others are served between. */
const AT_ONCE = 500;

export function createHolds({ areGood, extend, version, onTrouble, now }: HoldOptions): Holds {
  const holds = new Set<Hold>();
  let seenVersion: number | null = null;
  let extendedAt = performance.now();
  let isAway = false;
  let isLooking = false;
  let isClosed = false;
  const timer = setInterval(() => {
    for (const hold of [...holds]) if (isOver(hold.principal)) end(hold);
    if (!isLooking) void look();
  }, LOOK_MS).unref();

  /** Most looks are at one number alone: who is asked for costs a read, and thousands may be held. */
  async function look(): Promise<void> {
    isLooking = true;
    try {
      const current = await version();
      if (current !== seenVersion) lookSoon();
      seenVersion = current;
      const due = [...holds].filter(({ isDue }) => isDue);
      await slices(due, ask);
      isAway = false;
      if (performance.now() - extendedAt >= EXTEND_MS) await extendAll();
    } catch (error) {
      tell(error);
    }
    isLooking = false;
  }

  /** A database that is away is told of once, until it is there again. */
  function tell(error: unknown): void {
    const wasAway = isAway;
    isAway = error instanceof StoreError && error.code === 'storage_unavailable';
    if (!isClosed && !(isAway && wasAway)) onTrouble(error);
  }

  function isOver({ expiresAt }: Principal): boolean {
    return expiresAt !== null && now() >= expiresAt;
  }

  async function ask(due: readonly Hold[]): Promise<void> {
    // What ends while it is asked is asked again.
    for (const hold of due) hold.isDue = false;
    const good = await areGood(due.map(({ principal }) => principal)).catch((error) => {
      for (const hold of due) hold.isDue = true;
      throw error;
    });
    for (const [index, hold] of due.entries()) if (!good[index]) end(hold);
  }

  function end(hold: Hold): void {
    if (holds.delete(hold)) hold.onEnded();
  }

  async function extendAll(): Promise<void> {
    extendedAt = performance.now();
    await slices([...new Set([...holds].flatMap(({ principal }) => grantOf(principal)))], extend);
  }

  function lookSoon(): void {
    for (const hold of holds) hold.isDue = true;
  }

  return {
    hold(principal, onEnded) {
      const hold = { principal, onEnded, isDue: true };
      holds.add(hold);
      const hashes = grantOf(principal);
      if (hashes.length > 0) void extend(hashes);
      return () => void holds.delete(hold);
    },
    lookSoon,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

function grantOf({ credential }: Principal): string[] {
  return credential.kind === 'grant' ? [credential.hash] : [];
}

async function slices<T>(all: readonly T[], work: (some: readonly T[]) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    if (at > 0) await others();
    await work(all.slice(at, at + AT_ONCE));
  }
}
