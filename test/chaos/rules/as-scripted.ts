import { SCRIPTED_FAILURE } from '../agents/perform.ts';
import { scriptOf } from '../agents/script.ts';
import { isTerminal, type Logged } from '../story.ts';
import type { Rule } from './rule.ts';

export const asScripted: Rule = {
  name: 'a task ends as its script says, or because somebody cancelled it or its parent ended',
  *judge({ log, requests }) {
    const created = new Map(log.filter(({ type }) => type === 'task.created').map((event) => [event.taskId, event]));
    const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event]));
    const cancelled = new Set(requests.filter(({ verb }) => verb === 'cancel').map(({ target }) => target));
    for (const end of ends.values()) {
      const { type, taskId, data } = end;
      const input = created.get(taskId)?.data.input;
      const parentId: string | null = created.get(taskId)?.data.parentId ?? null;
      if (input === undefined) continue;
      const { ending } = scriptOf(input);
      const isRight =
        type === 'task.cancelled'
          ? cancelled.has(taskId) || isSameInstant(end, ends.get(parentId ?? ''))
          : type === `task.${ending}` &&
            (ending === 'completed' ? data.output?.ticket === input.ticket : isScripted(data));
      if (isRight) continue;
      const why = data.error?.code ?? data.reason ?? 'another output';
      yield { text: `${taskId} should be ${ending}, and it ended by ${type}: ${why}.`, evidence: end };
    }
  },
};

function isScripted({ error }: Logged['data']): boolean {
  return error.code === 'agent_error' && error.message === SCRIPTED_FAILURE;
}

/** Whether one came of the other, in its transaction. */
function isSameInstant(end: Logged, parentEnd: Logged | undefined): boolean {
  return parentEnd !== undefined && parentEnd.seq > end.seq && parentEnd.at === end.at;
}
