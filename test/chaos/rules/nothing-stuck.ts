import { eventsByTask } from '../story.ts';
import type { Rule } from './rule.ts';

export const nothingStuck: Rule = {
  name: 'nothing is unfinished without progress once the faults have stopped',
  *judge({ stuck, log }) {
    const byTask = eventsByTask(log);
    for (const task of stuck) {
      const last = byTask.get(task.id)?.slice(-10);
      yield { text: `${task.id} is ${task.status} and does not go on.`, evidence: { task, last } };
    }
  },
};
