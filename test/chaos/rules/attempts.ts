import { eventsByTask } from '../story.ts';
import type { Rule } from './rule.ts';

export const attempts: Rule = {
  name: 'a task begins with attempt 1, and each beginning after that counts higher',
  *judge({ log }) {
    for (const [taskId, events] of eventsByTask(log)) {
      let last = 0;
      for (const event of events.filter(({ type }) => type === 'task.started')) {
        const { attempt } = event.data;
        if (attempt <= last || (last === 0 && attempt !== 1)) {
          yield { text: `${taskId} begins with attempt ${attempt} behind ${last}.`, evidence: event };
        }
        last = attempt;
      }
    }
  },
};
