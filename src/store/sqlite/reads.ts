import type { Database } from 'better-sqlite3';
import type { Queries, StoreReads } from '../store.ts';
import { createQueries } from './queries.ts';
import type { Synchronous } from './synchronous.ts';
import type { Watch } from './watch-reads.ts';

/** Runs a query, and gives the promise of what it gives, which is settled. */
type Settle = <T>(query: () => T) => Promise<T>;

/**
 * Prepares all reads on a connection. Each has run to its end when it returns: what it gives is a promise for the sake of
 * stores that are further away.
 *
 * @param watch runs whatever reads
 */
export function createReads(db: Database, now: () => number, watch: Watch = (read) => read()): StoreReads {
  const queries = createQueries(db, now);

  function settle<T>(query: () => T): Promise<T> {
    try {
      return Promise.resolve(watch(query));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return {
    ...settling(queries, settle),
    now,
    async snapshot(ask) {
      let isOpen = true;
      const reads = settling(queries, (query) => {
        if (!isOpen) throw new Error('A snapshot must be asked for all of its reads before anything is awaited.');
        return settle(query);
      });
      try {
        const open = db.transaction(() => {
          const asked = ask(reads);
          // Where the snapshot cannot be closed either, that is what the caller is told.
          asked.catch(() => {});
          // In an object: a transaction of better-sqlite3 refuses to give a promise.
          return { asked };
        });
        return watch(open.deferred).asked;
      } finally {
        isOpen = false;
      }
    },
  };
}

function settling(queries: Synchronous<Queries>, settle: Settle): Queries {
  return {
    task: (owner, id) => settle(() => queries.task(owner, id)),
    question: (owner, id) => settle(() => queries.question(owner, id)),
    conversation: (owner, id) => settle(() => queries.conversation(owner, id)),
    listTasks: (owner, filter) => settle(() => queries.listTasks(owner, filter)),
    listConversations: (owner, filter) => settle(() => queries.listConversations(owner, filter)),
    listMessages: (owner, filter) => settle(() => queries.listMessages(owner, filter)),
    listQuestions: (owner, filter) => settle(() => queries.listQuestions(owner, filter)),
    log: (owner) => settle(() => queries.log(owner)),
    unfinishedRoots: (owner) => settle(() => queries.unfinishedRoots(owner)),
    readEvents: (owner, query) => settle(() => queries.readEvents(owner, query)),
    unfinishedFrom: (owner, conversationId) => settle(() => queries.unfinishedFrom(owner, conversationId)),
    claimable: (limit, full, agents) => settle(() => queries.claimable(limit, full, agents)),
    suspects: (limit) => settle(() => queries.suspects(limit)),
    due: (limit) => settle(() => queries.due(limit)),
    nextDueAt: () => settle(() => queries.nextDueAt()),
    prunable: (retentionMs, limit) => settle(() => queries.prunable(retentionMs, limit)),
    purgeable: (limit) => settle(() => queries.purgeable(limit)),
    orphans: (limit) => settle(() => queries.orphans(limit)),
    newestSuspects: (limit) => settle(() => queries.newestSuspects(limit)),
    agents: () => settle(() => queries.agents()),
    hasKey: (owner, key) => settle(() => queries.hasKey(owner, key)),
  };
}
