import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '../../../src/model/agent.ts';
import { isTerminal, type Logged } from '../story.ts';
import { isResolution } from './acknowledged.ts';
import type { Rule } from './rule.ts';

export const heardAnswers: Rule = {
  name: 'the agent hears of each resolution once, and nothing else than what it was',
  *judge({ log }) {
    const asked = log.filter(({ type }) => type === 'question.asked');
    const resolved = new Map(log.filter(isResolution).map((event) => [event.data.questionId, event]));
    const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event]));
    const heard = new Map<string, Logged[]>();
    for (const event of log.filter(({ type }) => type === 'chaos.heard')) {
      const place = `${event.taskId} ${event.data.key}`;
      heard.set(place, [...(heard.get(place) ?? []), event]);
    }

    for (const { taskId, data } of asked) {
      const { id, name } = data.question;
      const place = `${taskId} ${name}`;
      const own = heard.get(place) ?? [];
      heard.delete(place);
      const resolution = resolved.get(id);
      if (own.length > 1) yield { text: `${taskId} heard of ${name} ${own.length} times.`, evidence: own };
      for (const event of own) {
        if (resolution === undefined || event.seq < resolution.seq || !isSame(event.data.reply, resolution)) {
          yield { text: `${taskId} heard of ${name} what is not so.`, evidence: { event, resolution } };
        }
      }
      // Who was cancelled hears nothing more, and a question that ended with its task was nobody's any longer.
      const isOver = resolution?.type === 'question.cancelled' && resolution.data.reason !== 'withdrawn';
      const end = ends.get(taskId);
      const mustHear = resolution !== undefined && end?.type !== 'task.cancelled' && !isOver;
      if (mustHear && own.length === 0) {
        yield { text: `${taskId} never heard that ${name} was resolved.`, evidence: { resolution, end } };
      }
    }
    for (const [place, events] of heard) yield { text: `${place} was heard of and never asked.`, evidence: events };
  },
};

function isSame(reply: Reply, { type, data }: Logged): boolean {
  switch (reply.status) {
    case 'answered':
      return type === 'question.answered' && isDeepStrictEqual(reply.answers, data.answers);
    case 'declined':
      return type === 'question.declined' && reply.reason === data.reason;
    case 'expired':
      return type === 'question.expired';
    case 'withdrawn':
      return type === 'question.cancelled' && data.reason === 'withdrawn';
  }
}
