import { type Lease, refuseWork, workingTask } from '../fence.ts';
import { mustBeFree, newRow } from '../row.ts';
import { accept, type Verb } from '../verb.ts';

export interface StartTimerArgs extends Lease {
  /** The key under which the agent sleeps. */
  key: string;
  askedAt: number;
  ms: number;
}

/** Begins a `sleep`; it is due by the store's clock. */
export const startTimer: Verb<StartTimerArgs, null> = {
  needs: ({ taskId, key }) => ({ tasks: [taskId], rows: [{ taskId, key }] }),
  decide(view, args, now) {
    if (workingTask(view, args) === null) return refuseWork(view, args);
    mustBeFree(view, args);
    const row = newRow(args, { kind: 'sleep', askedAt: args.askedAt, dueAt: now + args.ms });
    return accept(null, { changes: { rows: [row] } });
  },
};
