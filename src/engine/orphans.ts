import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import type { HeldTask, Store } from '../store/store.ts';
import { groupBy } from './group-by.ts';
import type { Log } from './log.ts';

const AT_ONCE = 200;
/**
 * What kills the process may take its time: a suspect that began sooner than this after another is not blamed for what
 * may be that one's doing.
 */
export const ALONE_AFTER_MS = 10_000;

/**
 * Queues again what a process was running that lives no more, so that it goes on from its journal, and lets go of what it
 * had not let go of. Nothing of it runs any more, whatever it was. Where others may do the same, it ends when they are faster.
 */
export async function requeueOrphans(store: Store, log: Log): Promise<void> {
  failpoint?.('orphans-not-requeued');
  const suspect = suspectAlone(await store.newestSuspects(2));
  for (let orphans = await store.orphans(AT_ONCE); orphans.length > 0; orphans = await store.orphans(AT_ONCE)) {
    for (const [owner, own] of groupBy(orphans, (orphan) => orphan.owner)) {
      const { outcomes } = await log.commit(
        owner,
        own.map((orphan) => callOf(orphan, suspect)),
      );
      failpoint?.('some-orphans-requeued');
      // A parent that is convicted takes its children with it: they are found again, as tasks to let go of.
      if (outcomes.some(({ ok }) => ok)) continue;
      if (store.cluster !== null) return;
      throw new Error(`Orphans were refused: ${JSON.stringify(outcomes[0])}`);
    }
  }
}

/** The suspect that was started last, if no other that runs was started shortly before: the death counts to it. */
function suspectAlone([newest, second]: readonly HeldTask[]): string | null {
  if (newest === undefined) return null;
  const apartMs = (newest.runningSince ?? 0) - (second?.runningSince ?? Number.NEGATIVE_INFINITY);
  return apartMs >= ALONE_AFTER_MS ? newest.taskId : null;
}

function callOf({ taskId, fence, status }: HeldTask, suspect: string | null): VerbCall {
  if (status !== 'running') return { verb: 'releaseTask', args: { taskId, fence } };
  return { verb: 'requeueTask', args: { taskId, fence, cause: 'crashed', alone: taskId === suspect } };
}
