import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../../src/engine/group-by.ts';
import { isTerminal, type Logged } from '../story.ts';
import type { Rule } from './rule.ts';

export const heardChildren: Rule = {
  name: 'each spawn makes one child, and its parent hears what became of it',
  *judge({ log }) {
    const children = log.filter(({ type, data }) => type === 'task.created' && data.parentId !== null);
    const created = new Map(children.map((event) => [event.taskId, event]));
    const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event]));
    for (const [ticket, own] of groupBy(children, ({ data }) => data.input.ticket)) {
      if (own.length > 1) yield { text: `${ticket} was spawned ${own.length} times.`, evidence: own };
    }
    for (const event of log) {
      const { type, taskId, data } = event;
      if (type !== 'chaos.spawned' && type !== 'chaos.child') continue;
      const child = created.get(data.childId);
      if (child?.data.parentId !== taskId) {
        yield { text: `${taskId} has spawned ${data.childId}, which is no child of its.`, evidence: { event, child } };
      }
      if (type !== 'chaos.child') continue;
      const end = ends.get(data.childId);
      const value = ends.get(taskId)?.data.output?.values[data.key];
      const isHeard = end?.type === `task.${data.status}` && end.seq < event.seq;
      if (!isHeard || (value !== undefined && !isDeepStrictEqual(value, resultOf(end)))) {
        yield { text: `${taskId} heard of ${data.childId} what is not so.`, evidence: { event, value, end } };
      }
    }
  },
};

function resultOf({ type, data }: Logged): object {
  return { status: type.replace('task.', ''), ...data };
}
