import { resumed } from '../resume.ts';
import { accept, refuse, type Verb } from '../verb.ts';
import type { TimerKey } from '../view.ts';

/** Ends a `sleep` whose time has come. Whoever calls, the store's clock decides. */
export const fireTimer: Verb<TimerKey, null> = {
  needs: (timer) => ({ timers: [timer] }),
  decide(view, args, now) {
    const timer = view.timer(args);
    const task = view.task(args.taskId);
    if (timer === null || task === null || !timer.open || now < timer.dueAt) {
      return refuse('not_due', `The timer ${args.key} of ${args.taskId} is not due.`);
    }
    const woken = resumed(task, now);
    return accept(null, {
      changes: { tasks: [woken.task], timers: [{ ...timer, open: false }] },
      events: woken.events,
      resolutions: [{ ...args, outcome: { status: 'slept' } }],
    });
  },
};
