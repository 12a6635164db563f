import { isDeepStrictEqual } from 'node:util';
import type { ToldEvent } from '../agents/perform.ts';
import { eventsByTask, type Logged } from '../story.ts';
import type { Finding, Rule } from './rule.ts';

export const outsideEvents: Rule = {
  name: 'what an agent tells is in the log once, in the order of its calls, whatever came between',
  *judge({ log }) {
    for (const [taskId, events] of eventsByTask(log)) {
      yield* judgeOutside(taskId, events);
      yield* judgeInside(taskId, events);
    }
  },
};

function* judgeOutside(taskId: string, events: readonly Logged[]): Iterable<Finding> {
  const outside = events.filter(({ type, step }) => step === undefined && /^(chaos\.|task\.progress$)/.test(type));
  const branches = new Map<string, number>();
  for (const [index, event] of outside.entries()) {
    const { n, branch, b } = event.data;
    if (event.type === 'task.progress') {
      if (event.data.note === `${index + 1}`) continue;
    } else {
      const before = branches.get(branch) ?? 0;
      branches.set(branch, b);
      if (n === index + 1 && b === before + 1) continue;
    }
    yield {
      text: `${taskId} tells at place ${index + 1} what is not that.`,
      evidence: outside.slice(Math.max(0, index - 2), index + 2),
    };
    break;
  }

  const end = events.find(({ type }) => type === 'task.completed');
  const told: ToldEvent[] | undefined = end?.data.output?.told;
  if (told === undefined) return;
  const differs = Array.from({ length: Math.max(told.length, outside.length) }).findIndex((_, index) => {
    const { type, data } = outside[index] ?? {};
    return !isDeepStrictEqual({ type, data }, told[index]);
  });
  if (differs < 0) return;
  const text = `The code of ${taskId} has told ${told.length} events, and the log has ${outside.length}; at place ${differs + 1} they differ.`;
  yield { text, evidence: { called: told[differs], logged: outside[differs] } };
}

/** From inside a step: 1, 2, 3 … in each attempt, and all of them in the one that was completed. */
function* judgeInside(taskId: string, events: readonly Logged[]): Iterable<Finding> {
  const attempts = new Map<string, number>();
  const isWhole = new Map<string, boolean>();
  for (const event of events) {
    const { type, step, data } = event;
    if (type === 'chaos.inside') {
      const place = `${step?.name} ${step?.attempt}`;
      const before = attempts.get(place) ?? 0;
      attempts.set(place, data.k);
      isWhole.set(place, data.k === data.of);
      if (data.k !== before + 1 || place !== `${data.key} ${data.attempt}`) {
        yield { text: `${taskId} tells ${data.k} behind ${before} from inside ${place}.`, evidence: event };
      }
    }
    if (type === 'step.completed' && isWhole.get(`${data.name} ${data.attempt}`) === false) {
      yield { text: `${taskId} lost events from inside ${data.name}.`, evidence: event };
    }
  }
}
