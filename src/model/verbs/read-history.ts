import { type Lease, refuseWork, workingTask } from '../fence.ts';
import { acceptResolved, resolveRow } from '../resolving.ts';
import { mustBeFree, newRow } from '../row.ts';
import type { Verb } from '../verb.ts';

export interface ReadHistoryArgs extends Lease {
  key: string;
  askedAt: number;
}

/** Tells a running task of the turns before it: the call is resolved at once, and so a replay is told the same. */
export const readHistory: Verb<ReadHistoryArgs, null> = {
  needs: ({ taskId, key }) => ({ histories: [taskId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    mustBeFree(view, args);
    const row = newRow(args, { kind: 'history', askedAt: args.askedAt });
    const told = { status: 'done', value: JSON.stringify(view.history(task.id)) } as const;
    return acceptResolved(resolveRow(task, row, told, now));
  },
};
