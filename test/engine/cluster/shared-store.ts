import type { VerbCall } from '../../../src/model/batch.ts';
import type { KeyResolution } from '../../../src/model/journal.ts';
import type { Cluster } from '../../../src/store/cluster.ts';
import { openSqliteStoreInProcess } from '../../../src/store/sqlite/open.ts';
import { type Committed, type HeldTask, type Store, StoreError, type StoreWatcher } from '../../../src/store/store.ts';

/** One SQLite store that several nodes of a test share, each by a view of its own, as they would one PostgreSQL. */
export interface SharedStore {
  readonly base: Store;
  /** @param name the first that the node claims under */
  view(name: string, options?: ViewOptions): View;
}

export interface View extends Store {
  readonly cluster: Cluster;
}

export interface ViewOptions {
  /** What a commit was has been done; its answer waits for this. */
  answered?: () => Promise<void>;
  /** Waited for before copies are read, and after. */
  reading?: (when: 'before' | 'after') => Promise<void>;
  /** Whether this node is told of what others write. Default true. */
  listens?: boolean;
  leaseMs?: number;
}

export function openSharedStore({ now = Date.now }: { now?: () => number } = {}): SharedStore {
  const base = openSqliteStoreInProcess({ dir: ':memory:', now });
  /** Of each task, in the order of the store. */
  const resolutions = new Map<string, KeyResolution[]>();
  const claimed = new Set<string>();
  /** Until when each node counts as living; null for those who were buried. */
  const leases = new Map<string, number | null>();
  const watchers = new Map<View, StoreWatcher>();
  let duty: string | null = null;

  function note(calls: readonly VerbCall[], batch: Committed): void {
    for (const { call: _, ...resolution } of batch.resolutions) {
      resolutions.set(resolution.taskId, [...(resolutions.get(resolution.taskId) ?? []), resolution]);
    }
    for (const { verb, args } of calls) if (verb === 'claimTask') claimed.add(args.taskId);
  }

  async function heldBy(owners: ReadonlySet<string>, isTheirs: (node: string) => boolean): Promise<HeldTask[]> {
    const held: HeldTask[] = [];
    for (const owner of owners) {
      for (const id of claimed) {
        const task = await base.task(owner, id);
        if (task === null || !task.held || task.node === null || !isTheirs(task.node)) continue;
        const { fence, status, runningSince } = task;
        held.push({ owner, taskId: id, fence, status, runningSince });
      }
    }
    return held;
  }

  const owners = new Set<string>();

  return {
    base,
    view(name, { answered, reading, listens = true, leaseMs = 30_000 } = {}) {
      let node = name;
      leases.set(node, base.now() + leaseMs);

      const cluster: Cluster = {
        leaseMs,
        async renew() {
          if (leases.get(node) === null) node = `${node}+`;
          leases.set(node, base.now() + leaseMs);
          return { node, held: await heldBy(owners, (each) => each === node) };
        },
        async buryDead() {
          const late = [...leases].filter(([, until]) => until !== null && until < base.now());
          for (const [each] of late) leases.set(each, null);
          return late.length;
        },
        async takeDuty() {
          if (duty === null || leases.get(duty) === null) duty = node;
          return duty === node;
        },
        async heads(asked) {
          const heads = await Promise.all(asked.map(async (owner) => [owner, (await base.log(owner)).head] as const));
          return new Map(heads.filter(([, head]) => head > 0));
        },
        async copies(owner, known) {
          await reading?.('before');
          const states = await Promise.all(
            known.map(async ({ taskId, ord }) => {
              const task = await base.task(owner, taskId);
              if (task === null) return [];
              const news = (resolutions.get(taskId) ?? []).filter((each) => each.ord > ord);
              return [{ taskId, fence: task.fence, status: task.status, ord: task.ord, resolutions: news }];
            }),
          );
          await reading?.('after');
          return states.flat();
        },
      };

      const view: View = {
        ...base,
        get node() {
          return node;
        },
        cluster,
        watch(watcher) {
          if (listens) watchers.set(view, watcher);
        },
        async commit(owner, calls) {
          const claims = calls.some(({ verb }) => verb === 'claimTask');
          if (claims && leases.get(node) === null) throw new StoreError('storage_unavailable', 'dead');
          owners.add(owner);
          const batch = await base.commit(owner, calls);
          note(calls, batch);
          for (const [other, watcher] of watchers) if (other !== view) watcher.onForeign(new Set([owner]));
          await answered?.();
          return batch;
        },
        async orphans(limit) {
          return (await heldBy(owners, (each) => leases.get(each) === null)).slice(0, limit);
        },
        async close() {
          leases.set(node, null);
          watchers.delete(view);
        },
      };
      return view;
    },
  };
}
