import { isTerminal } from '../../src/model/task.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';

/** The store of one world after another: to open one takes longer than most of them. Each world has its own owner in it. */
let shared: { store: Store; clock: { now: number }; worlds: number } | null = null;

const START = Date.UTC(2026, 10, 30);
const MAX_WORLDS = 200;

export interface BorrowedStore {
  store: Store;
  owner: string;
  /** What the store takes for the time; it never goes back. */
  clock: { now: number };
}

export function borrowStore(): BorrowedStore {
  if (shared === null) {
    const clock = { now: START };
    shared = { store: openSqliteStoreInProcess({ dir: ':memory:', now: () => clock.now }), clock, worlds: 0 };
  }
  const { store, clock } = shared;
  shared.worlds += 1;
  clock.now += 1000;
  return { store, owner: `owner-${shared.worlds}`, clock };
}

/** Gives it back; one in which something is left that another world would go on with is not used again. */
export async function returnStore({ store, owner }: BorrowedStore): Promise<void> {
  const [tasks, orphans] = await Promise.all([store.listTasks(owner, { limit: 200, order: 'asc' }), store.orphans(1)]);
  const isClean = tasks.every(({ status }) => isTerminal(status)) && orphans.length === 0;
  if (isClean && shared?.store === store && shared.worlds < MAX_WORLDS) return;
  if (shared?.store === store) shared = null;
  await store.close();
}
