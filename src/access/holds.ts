import type { Principal } from '../model/access.ts';

/** Who holds something open. */
export interface Holds {
  /**
   * For as long as something stays open that was opened once.
   *
   * @param onEnded called once, within two seconds, when the principal is not good any more
   * @returns what lets go of it
   */
  hold(principal: Principal, onEnded: () => void): () => void;
  /** Something has ended that this process itself has ended. */
  lookSoon(): void;
  /** Watches no more. */
  close(): void;
}

export interface HoldOptions {
  isGood(principal: Principal): boolean;
  /** What these grants have opened is open: at once, and then every minute. */
  extend(hashes: readonly string[]): void;
  /** Another number whenever another process may have ended something. */
  version(): number;
  onTrouble(error: unknown): void;
  /** Epoch ms. */
  now(): number;
}

interface Hold {
  principal: Principal;
  onEnded(): void;
}

const LOOK_MS = 2000;
const EXTEND_MS = 60_000;
/** So many are written at a time: others are served between. */
const EXTENDED_AT_ONCE = 500;

export function createHolds({ isGood, extend, version, onTrouble, now }: HoldOptions): Holds {
  const holds = new Set<Hold>();
  let seenVersion = version();
  let isChanged = false;
  let extendedAt = performance.now();
  const timer = setInterval(() => {
    try {
      look();
      if (performance.now() - extendedAt >= EXTEND_MS) extendAll();
    } catch (error) {
      onTrouble(error);
    }
  }, LOOK_MS).unref();

  /** Most looks are at the clock alone: who is asked for costs a read, and thousands may be held. */
  function look(): void {
    const current = version();
    const asks = isChanged || current !== seenVersion;
    for (const hold of [...holds]) {
      const { expiresAt } = hold.principal;
      const isOver = expiresAt !== null && now() >= expiresAt;
      if (!isOver && (!asks || isGood(hold.principal))) continue;
      holds.delete(hold);
      hold.onEnded();
    }
    seenVersion = current;
    isChanged = false;
  }

  function extendAll(): void {
    extendedAt = performance.now();
    const hashes = [...new Set([...holds].flatMap(({ principal }) => grantOf(principal)))];
    for (let at = 0; at < hashes.length; at += EXTENDED_AT_ONCE) {
      const slice = hashes.slice(at, at + EXTENDED_AT_ONCE);
      setImmediate(() => extend(slice));
    }
  }

  return {
    hold(principal, onEnded) {
      const hold = { principal, onEnded };
      holds.add(hold);
      const hashes = grantOf(principal);
      if (hashes.length > 0) extend(hashes);
      return () => void holds.delete(hold);
    },
    lookSoon() {
      isChanged = true;
    },
    close: () => clearInterval(timer),
  };
}

function grantOf({ credential }: Principal): string[] {
  return credential.kind === 'grant' ? [credential.hash] : [];
}
