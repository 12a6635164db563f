import type { SynchronousCommit } from './database-options.ts';
import { postgresUrl } from './option-values.ts';
import type { Server } from './server.ts';
import type { ServingOptions } from './serving-options.ts';

export type { Server };

export interface HoldfastOptions extends ServingOptions {
  /**
   * The database that several servers share: `postgres://user:password@host/name`. Its tables are made if they are missing.
   * Of several hosts, separated by commas, the one that can be written is taken.
   */
  database: string;
  /** The same database past PgBouncer, to hear by `LISTEN` what other servers have written. Default: the same. */
  databaseListen?: string | null;
  /** How many connections to it are open at most, beside the one that listens. At least 4, default 10. */
  databasePool?: number;
  /** How far a commit must have come before it is acknowledged. Default `on`. */
  synchronousCommit?: SynchronousCommit;
  /** After how long without a word, in ms, this server counts as dead and others run its tasks. Default 30,000. */
  leaseMs?: number;
}

/**
 * Starts one of several servers that share a PostgreSQL, for which the package `postgres` must be installed.
 *
 * @throws Error with a text for people when it cannot start
 */
export async function createHoldfast(options: HoldfastOptions): Promise<Server> {
  const { database, databaseListen, databasePool, synchronousCommit, leaseMs, ...rest } = options;
  const { openPostgresStore } = await import('./store/postgres/open.ts');
  const { openPostgresAccess } = await import('./store/postgres/access/open.ts');
  const { startOver } = await import('./start-over.ts');
  const store = await openPostgresStore({
    url: postgresUrl(database),
    ...(databaseListen != null && { listenUrl: postgresUrl(databaseListen) }),
    ...(databasePool !== undefined && { poolSize: databasePool }),
    ...(synchronousCommit !== undefined && { synchronousCommit }),
    ...(leaseMs !== undefined && { leaseMs }),
    onTrouble: (cause) =>
      rest.logger?.warn({ err: cause }, 'what other servers write is found by asking, a second later'),
  });
  return startOver(store, () => openPostgresAccess({ url: database }), rest);
}
