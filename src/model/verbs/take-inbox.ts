import { type Lease, refuseWork, workingTask } from '../fence.ts';
import { acceptResolved, resolveRow } from '../resolving.ts';
import { mustBeFree, newRow } from '../row.ts';
import type { Verb } from '../verb.ts';

export interface TakeInboxArgs extends Lease {
  key: string;
  askedAt: number;
}

/** Gives a running task the messages that were sent to it since it looked last: the call is resolved at once. */
export const takeInbox: Verb<TakeInboxArgs, null> = {
  needs: ({ taskId, key }) => ({ tasks: [taskId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    const task = workingTask(view, args);
    if (task === null) return refuseWork(view, args);
    mustBeFree(view, args);
    const row = newRow(args, { kind: 'inbox', askedAt: args.askedAt });
    const taken = { status: 'done', value: JSON.stringify(task.inbox) } as const;
    return acceptResolved(resolveRow({ ...task, inbox: [] }, row, taken, now));
  },
};
