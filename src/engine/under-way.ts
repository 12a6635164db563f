import type { Log } from './log.ts';

/** Which commits of this process are on their way, so that what is read of the store can be told apart from them. */
export interface UnderWay {
  /** The same log, seen from now on. */
  watch(log: Log): Log;
  /** Resolves when all commits of an owner have been published, or have failed, that were asked for until now. */
  settled(owner: string): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const asked = new Map<string, Set<Promise<unknown>>>();

  function forget(owner: string, commit: Promise<unknown>): void {
    const own = asked.get(owner);
    own?.delete(commit);
    if (own?.size === 0) asked.delete(owner);
  }

  return {
    watch: (log) => ({
      commit(owner, calls) {
        const commit = log.commit(owner, calls);
        asked.set(owner, (asked.get(owner) ?? new Set()).add(commit));
        const done = () => forget(owner, commit);
        commit.then(done, done);
        return commit;
      },
    }),
    async settled(owner) {
      await Promise.allSettled(asked.get(owner) ?? []);
    },
  };
}
