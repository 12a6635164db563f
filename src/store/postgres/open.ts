import type { Batch } from '../../model/batch.ts';
import type { Committed, Store, StoreWatcher } from '../store.ts';
import { BY_INDEX } from './by-index.ts';
import { createCluster } from './cluster.ts';
import { createCommitQueue } from './commit-queue.ts';
import { type ConnectionOptions, createOpenLink } from './connection.ts';
import { createDatabaseClock } from './database-clock.ts';
import { startEpoch } from './epoch.ts';
import { asStoreError } from './failure.ts';
import { createLinks, type Links } from './links.ts';
import { migrateDatabase } from './migrate.ts';
import { createNodes } from './nodes.ts';
import { createOwnerMarks } from './owner-marks.ts';
import { loadPostgres } from './postgres-module.ts';
import { createReads } from './reads.ts';
import { asStartRefusal } from './start-refusal.ts';
import { createRunGroup } from './transaction.ts';
import { silentWakeUps, startWakeUps } from './wake-ups.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; of several hosts, by commas, the one that can be written is taken. */
  url: string;
  /** The same database past a pooler that does not let anybody listen; else `url`. */
  listenUrl?: string;
  /** How many connections there are at most, beside the one that listens: 4 at least, 10 unless it says otherwise. */
  poolSize?: number;
  /** How far a commit must have come when it is acknowledged; `on` unless it says otherwise. */
  synchronousCommit?: 'on' | 'remote_write' | 'remote_apply' | 'local';
  /** How long a process that is not heard of counts as living; 30,000 unless it says otherwise. */
  leaseMs?: number;
  /** Whether others are told of what is committed: else they find it by polling. */
  notify?: boolean;
  /** Told when nothing can be heard of the others, so that this process finds what they do by polling. */
  onTrouble?: (cause: Error) => void;
}

const DEFAULT_POOL_SIZE = 10;
const MIN_POOL_SIZE = 4;
const DEFAULT_LEASE_MS = 30_000;
/** A lock may be held by a process that is stopped, until the server takes its transaction away. */
const LOCK_TIMEOUT_MS = 8_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * Opens the store of a database that several processes share, and makes its tables if need be.
 *
 * @throws StartRefusal when it cannot be used
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, leaseMs = DEFAULT_LEASE_MS } = options;
  const postgres = await loadPostgres();
  await migrateDatabase(postgres, { url });
  const pools = createPools(
    (settings) => createOpenLink(postgres, { url, settings, statementTimeoutMs: STATEMENT_TIMEOUT_MS }),
    options,
  );
  const { writing, reading, serving } = pools;
  const clock = createDatabaseClock();
  const marks = createOwnerMarks();
  const nodes = createNodes(serving, clock, leaseMs);
  let watcher: StoreWatcher | null = null;
  let epoch = '';
  let isClosing = false;
  try {
    epoch = await writing.use(startEpoch);
    await nodes.join();
  } catch (error) {
    await pools.end();
    throw asStartRefusal(error, url);
  }
  const wakeUps =
    options.notify === false
      ? silentWakeUps()
      : startWakeUps({
          links: serving,
          open: (onNotify) => openListener(onNotify)(),
          marks,
          onForeign: (owners) => watcher?.onForeign(owners),
          onTrouble: (cause) => options.onTrouble?.(cause),
        });
  const queue = createCommitQueue(
    createRunGroup(
      writing,
      {
        onDecided(batches, sentAt) {
          for (const batch of batches.slice(0, 1)) {
            epoch = batch.epoch;
            clock.learn(batch.now, sentAt);
          }
        },
        onWritten: wakeUps.committed,
      },
      () => isClosing,
    ),
  );

  function openListener(onNotify: NonNullable<ConnectionOptions['onNotify']>) {
    const listenUrl = options.listenUrl ?? url;
    return createOpenLink(postgres, { url: listenUrl, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onNotify });
  }

  return {
    ...createReads(reading, { clock, onFailed: (error) => watcher?.onFailed(error), onOwner: marks.of }),
    get node() {
      return nodes.id;
    },
    get epoch() {
      return epoch;
    },
    cluster: createCluster(serving, nodes),
    watch(theWatcher) {
      watcher = theWatcher;
    },
    commit: async (owner, calls) => typed(await queue.commit({ owner, calls })),
    async describeAgents(agents) {
      await nodes.describeAgents(agents).catch((error) => {
        throw asStoreError(error);
      });
    },
    async close() {
      isClosing = true;
      await queue.idle();
      await wakeUps.stop();
      // Without the database nobody can be told: the lease runs out.
      await nodes.leave().catch(() => {});
      await pools.end();
    },
  };
}

/** Three pools: a slow list holds up no commit, and nothing a lease. */
function createPools(
  openLink: (settings: Record<string, string>) => ReturnType<typeof createOpenLink>,
  { poolSize = DEFAULT_POOL_SIZE, synchronousCommit = 'on' }: PostgresOptions,
): { writing: Links; reading: Links; serving: Links; end(): Promise<void> } {
  const size = Math.max(MIN_POOL_SIZE, poolSize);
  const forServing = size < 8 ? 1 : 2;
  const forReading = Math.floor((size - forServing) / 2);
  const whenWriting = {
    ...BY_INDEX,
    synchronous_commit: synchronousCommit,
    lock_timeout: String(LOCK_TIMEOUT_MS),
  };
  const writing = createLinks(openLink(whenWriting), size - forServing - forReading);
  const reading = createLinks(openLink(BY_INDEX), forReading);
  const serving = createLinks(openLink({ ...BY_INDEX, synchronous_commit: synchronousCommit }), forServing);
  return {
    writing,
    reading,
    serving,
    async end() {
      await Promise.all([writing.end(), reading.end(), serving.end()]);
    },
  };
}

/** A batch's outcomes stand in the order of the calls, which is what {@link Committed} says of them. */
function typed<Calls extends Parameters<Store['commit']>[1]>(batch: Batch): Committed<Calls> {
  return batch as Committed<Calls>;
}
