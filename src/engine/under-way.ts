import type { Log } from './log.ts';

/** Which commits of this process are on their way, so that what is read of the store can be told apart from them. */
export interface UnderWay {
  /** Resolves when all commits of an owner have been published, or have failed, that were asked for until now. */
  settled(owner: string): Promise<void>;
}

/** The same log, with a look at what is on its way. */
export function watchUnderWay(log: Log): { log: Log; underWay: UnderWay } {
  const asked = new Map<string, Set<Promise<unknown>>>();

  function forget(owner: string, commit: Promise<unknown>): void {
    const own = asked.get(owner);
    own?.delete(commit);
    if (own?.size === 0) asked.delete(owner);
  }

  return {
    log: {
      commit(owner, calls) {
        const commit = log.commit(owner, calls);
        const own = asked.get(owner) ?? new Set();
        asked.set(owner, own.add(commit));
        const done = () => forget(owner, commit);
        commit.then(done, done);
        return commit;
      },
    },
    underWay: {
      async settled(owner) {
        await Promise.allSettled(asked.get(owner) ?? []);
      },
    },
  };
}
