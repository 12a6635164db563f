import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Batch } from '../../model/batch.ts';
import { StoreError } from '../store.ts';
import type { Commit, RunGroup, Settled } from './commit-queue.ts';
import { decide } from './decide.ts';
import { asStoreError, codeOf, isConflict, isLoss, isRolledBack } from './failure.ts';
import type { Link } from './link.ts';
import type { Links } from './links.ts';
import { type Loaded, load } from './load.ts';
import { createLoners } from './loners.ts';
import { lookUp, type Sent } from './outcome.ts';
import { purge } from './purge.ts';
import { statement } from './statement.ts';
import { endStuck } from './stuck.ts';
import { isClean, writesOf } from './write.ts';

/** Told of what transactions have come to. */
export interface TransactionWatcher {
  /** @param sentAt before the database was asked for the time, by `performance.now()` */
  onDecided(batches: readonly Batch[], sentAt: number): void;
  /** Something of the owner's is another than before. */
  onWritten(owner: string): void;
}

const COMMIT = statement('commit');
const ROLLBACK = statement('rollback');

/** A lock of another process's, say: so often is it tried again before it counts as the database's trouble. */
const MAX_TRIES = 4;
const PAUSE_MS = 20;
const LOCK_TIMEOUT = '55P03';
/** While nobody knows what became of a commit the database is asked so often. */
const ASK_AGAIN_MS = 200;
const MAX_MARK = 2 ** 47;

/** Its COMMIT may have been sent, and no answer has come. */
class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  readonly sent: Sent;
  readonly batches: readonly Batch[];

  constructor(sent: Sent, batches: readonly Batch[], cause: unknown) {
    super('The connection was lost while a commit was under way.', { cause });
    this.sent = sent;
    this.batches = batches;
  }
}

/**
 * Runs groups of commits, each in one transaction of two flights: what locks and loads, and what writes and commits.
 *
 * A verb that throws is a bug of that verb, and a statement that fails fails its whole transaction: nothing was written, and
 * each commit of the group is tried in a transaction of its own.
 *
 * @param isClosing whether an answer is waited for no more
 */
export function createRunGroup(links: Links, watcher: TransactionWatcher, isClosing: () => boolean): RunGroup {
  const loners = createLoners();
  return async function runGroup(owner, commits) {
    try {
      const batches = await transact(owner, commits);
      return batches.map((batch) => ({ ok: true, batch }));
    } catch (cause) {
      const error = asStoreError(cause);
      if (error instanceof StoreError || commits.length === 1) return commits.map(() => ({ ok: false, error }));
      return oneByOne(owner, commits);
    }
  };

  async function oneByOne(owner: string, commits: readonly Commit[]): Promise<Settled[]> {
    const settled: Settled[] = [];
    for (const commit of commits) {
      const trouble = settled.find((each) => !each.ok && each.error instanceof StoreError);
      settled.push(trouble ?? (await runOne(owner, commit)));
    }
    return settled;
  }

  async function runOne(owner: string, commit: Commit): Promise<Settled> {
    try {
      const [batch] = await transact(owner, [commit]);
      if (batch === undefined) throw new Error('A commit came to nothing.');
      return { ok: true, batch };
    } catch (error) {
      return { ok: false, error: asStoreError(error) };
    }
  }

  async function transact(owner: string, commits: readonly Commit[]): Promise<readonly Batch[]> {
    for (let tries = 1; ; tries += 1) {
      let wasConnected = false;
      try {
        const sentAt = performance.now();
        const { batches, hasWritten } = await links.use((link) => {
          wasConnected = true;
          return attempt(link, owner, commits);
        });
        watcher.onDecided(batches, sentAt);
        if (hasWritten) watcher.onWritten(owner);
        return batches;
      } catch (error) {
        if (error instanceof OutcomeUnknown && (await wasCommitted(error.sent))) {
          watcher.onWritten(owner);
          return error.batches;
        }
        const mayPass = error instanceof OutcomeUnknown || isConflict(error) || (wasConnected && isLoss(error));
        if (!mayPass) throw error;
        if (tries >= MAX_TRIES) throw new StoreError('storage_unavailable', error);
        if (codeOf(error) === LOCK_TIMEOUT) await endStuck(links);
        if (isConflict(error)) await pause(PAUSE_MS * tries * Math.random());
      }
    }
  }

  async function attempt(link: Link, owner: string, commits: readonly Commit[]) {
    const loaded = await load(
      link,
      owner,
      commits.flatMap(({ calls }) => calls),
      loners,
    );
    const batches = commits.map(({ calls }) => decide(loaded, calls));
    if (isClean(loaded.view)) {
      await link.ask(ROLLBACK);
      return { batches, hasWritten: false };
    }
    await commit(link, owner, loaded, batches);
    return { batches, hasWritten: true };
  }

  async function commit(link: Link, owner: string, loaded: Loaded, batches: readonly Batch[]): Promise<void> {
    for (const id of loaded.view.purged) {
      const key = loaded.conversationKeys.get(id);
      if (key !== undefined) await purge(link, key);
    }
    const mark = 1 + randomInt(MAX_MARK);
    const writes = writesOf(loaded, batches, mark);
    const events = batches.flatMap((batch) => batch.events);
    try {
      const answers = await Promise.all([...writes, [COMMIT] as const].map((asked) => link.ask(...asked)));
      if (answers.at(-1)?.command !== 'COMMIT') throw new Error('The database has rolled a transaction back.');
    } catch (error) {
      if (isRolledBack(error)) throw error;
      throw new OutcomeUnknown({ owner, loaded, mark, events }, batches, error);
    }
  }

  /** Asks until the database answers: it must neither be done twice nor be taken for undone. */
  async function wasCommitted(sent: Sent): Promise<boolean> {
    for (;;) {
      try {
        const verdict = await links.use((link) => lookUp(link, sent));
        if (verdict === 'unknown') throw new StoreError('storage_failed', new Error('A commit may have been lost.'));
        if (verdict !== 'underway') return verdict === 'committed';
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
      if (isClosing()) throw new StoreError('storage_failed', new Error('Closed before a commit was known of.'));
      await pause(ASK_AGAIN_MS);
    }
  }
}

function isPassing(error: unknown): boolean {
  const told = asStoreError(error);
  return told instanceof StoreError && told.code === 'storage_unavailable';
}
