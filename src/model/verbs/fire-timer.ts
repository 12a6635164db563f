import type { RowKey } from '../journal.ts';
import { acceptResolved, resolveRow } from '../resolving.ts';
import { refuse, type Verb } from '../verb.ts';

/** Ends a `sleep` whose time has come. Whoever calls, the store's clock decides. */
export const fireTimer: Verb<RowKey, null> = {
  needs: (timer) => ({ rows: [timer] }),
  decide(view, args, now) {
    const row = view.row(args);
    const task = view.task(args.taskId);
    if (row === null || task === null || row.dueAt === null || now < row.dueAt) {
      return refuse('not_due', `The sleep ${args.key} of ${args.taskId} is not over.`);
    }
    return acceptResolved(resolveRow(task, row, { status: 'done', value: 'null' }, now));
  },
};
