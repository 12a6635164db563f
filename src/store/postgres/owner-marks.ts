import { createHash } from 'node:crypto';

/** Short names for owners, the same in every process. From one only who knows the owner learns it. */
export interface OwnerMarks {
  /** 11 characters of base64url. Its owner is known from then on. */
  of(owner: string): string;
  /** Null for one that this process has not asked after, or not lately. */
  owner(mark: string): string | null;
}

/** 64 bits: that two owners share a mark is a matter of luck, and costs the one a look at nothing new. */
const MARK_BYTES = 8;
const MAX_OWNERS = 100_000;

export function createOwnerMarks(): OwnerMarks {
  const marks = new Map<string, string>();
  const owners = new Map<string, string>();
  return {
    of(owner) {
      const known = marks.get(owner);
      const mark = known ?? createHash('sha256').update(owner).digest().subarray(0, MARK_BYTES).toString('base64url');
      // Who was asked after last is forgotten last.
      marks.delete(owner);
      marks.set(owner, mark);
      if (known === undefined) owners.set(mark, owner);
      if (marks.size > MAX_OWNERS) forgetOldest();
      return mark;
    },
    owner: (mark) => owners.get(mark) ?? null,
  };

  function forgetOldest(): void {
    for (const [owner, mark] of marks) {
      marks.delete(owner);
      owners.delete(mark);
      return;
    }
  }
}
