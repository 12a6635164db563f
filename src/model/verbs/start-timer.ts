import { heldTask, type Lease, leaseLost } from '../fence.ts';
import { accept, type Verb } from '../verb.ts';

export interface StartTimerArgs extends Lease {
  /** The key under which the agent sleeps. */
  key: string;
  ms: number;
}

/** Sets the timer of a `sleep`; it is due by the store's clock. */
export const startTimer: Verb<StartTimerArgs, null> = {
  needs: ({ taskId }) => ({ tasks: [taskId] }),
  decide(view, args, now) {
    if (heldTask(view, args) === null) return leaseLost(args);
    const timer = { taskId: args.taskId, key: args.key, dueAt: now + args.ms, open: true };
    return accept(null, { changes: { timers: [timer] } });
  },
};
