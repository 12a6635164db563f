import type { Cluster } from '../store/cluster.ts';
import type { Store } from '../store/store.ts';
import { createCatchingUp } from './catching-up.ts';
import type { Dispatcher, Neighbours } from './dispatcher.ts';
import { createDutyHolder } from './duty.ts';
import { createFollower, type Follower } from './follower.ts';
import type { Hub } from './hub.ts';
import type { CommitListener, Log } from './log.ts';
import { createMembership, type Membership } from './membership.ts';
import { createOneAtATime, type OneAtATime } from './one-at-a-time.ts';
import { requeueOrphans } from './orphans.ts';
import { createReconciling } from './reconciling.ts';
import type { Sweeper } from './sweeper.ts';
import { createUnderWay } from './under-way.ts';

/**
 * This process as one of several on a database: that it counts as living, what it learns of the others, and what it does
 * for those that live no more.
 */
export interface ServerNode extends Neighbours {
  /** The same log; all that is committed must go through it. */
  watch(log: Log): Log;
  readonly onCommitted: CommitListener;
  /** See {@link StoreWatcher.onForeign}. */
  onForeign(owners: ReadonlySet<string> | null): void;
  /** Resolves when it was tried for the first time to renew the lease: from then on claims may be made. */
  start(parts: NodeParts): Promise<void>;
  stop(): void;
}

/** The rest of the process. */
export interface NodeParts {
  hub: Hub;
  dispatcher: Dispatcher;
  sweeper: Pick<Sweeper, 'lookSoon'>;
  log: Log;
}

export interface NodeOptions {
  store: Store;
  cluster: Cluster;
  onFatal(error: unknown): void;
}

/** What was written elsewhere is claimed where it was written, or where its copy waits, if there is room. */
const OTHERS_FIRST_MS = 25;

export function createNode({ store, cluster, onFatal: onBug }: NodeOptions): ServerNode {
  const duty = createDutyHolder(cluster, 'sweep', onDuty, onFatal);
  const underWay = createUnderWay();
  let stopped = false;
  let running: { membership: Membership; follower: Follower; rescuing: OneAtATime } | null = null;

  /** What is under way when the node stops may find the store closed. */
  function onFatal(error: unknown): void {
    if (!stopped) onBug(error);
  }

  /** Those who hold the duty do it: of several, one could blame a suspect for having run alone whose neighbour another took. */
  function onDuty(): void {
    running?.rescuing.ask('');
  }

  return {
    isAlive: () => running?.membership.isAlive() ?? false,
    isOnDuty: duty.isMine,
    watch: underWay.watch,
    catchUp: (owner) => running?.follower.catchUp(owner),
    onCommitted: (...commit) => running?.follower.onCommitted(...commit),
    onForeign: (owners) => running?.follower.onForeign(owners),

    async start({ hub, dispatcher, sweeper, log }) {
      const { copies, claimSoon, claimWoken, dropAll, giveBack } = dispatcher;
      const catchingUp = createCatchingUp({ cluster, copies, underWay, now: store.now, onWoken: claimWoken });
      let isNews = false;
      const onNews = () => {
        sweeper.lookSoon();
        if (isNews) return;
        isNews = true;
        setTimeout(() => {
          isNews = false;
          claimSoon();
        }, OTHERS_FIRST_MS).unref();
      };
      const follower = createFollower({ store, cluster, hub, copies, catchingUp, onNews, onFatal });
      const reconciling = createReconciling({ copies, underWay, giveBack });
      const membership = createMembership({
        ...{ cluster, reconciling, onExpired: dropAll, onAlive: claimSoon, onBuried: duty.ask, onFatal },
      });
      const rescuing = createOneAtATime(async () => {
        await cluster.buryDead();
        await requeueOrphans(store, log);
      }, onFatal);
      running = { membership, follower, rescuing };
      await membership.start();
      duty.ask();
      follower.start();
    },

    stop() {
      stopped = true;
      duty.stop();
      running?.rescuing.stop();
      running?.follower.stop();
      running?.membership.stop();
    },
  };
}
