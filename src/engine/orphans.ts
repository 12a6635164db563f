import type { VerbCall } from '../model/batch.ts';
import { taskError } from '../model/task-error.ts';
import type { Store } from '../store/store.ts';
import { groupBy } from './group-by.ts';
import type { Log } from './log.ts';

const AT_ONCE = 200;

/**
 * Fails what an earlier process had begun and not ended: no code of it is left that could go on. Their questions are
 * cancelled with them.
 */
export async function failOrphans(store: Store, log: Log): Promise<void> {
  const error = taskError('worker_exited', 'The server stopped while the task was unfinished.');
  for (;;) {
    const orphans = store.orphans(AT_ONCE);
    if (orphans.length === 0) return;
    for (const [owner, own] of groupBy(orphans, (orphan) => orphan.owner)) {
      const calls = own.map(({ taskId, fence }): VerbCall => {
        return { verb: 'failTask', args: { taskId, fence, error, when: 'now' } };
      });
      await log.commit(owner, calls);
    }
  }
}
