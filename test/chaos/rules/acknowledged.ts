import { isDeepStrictEqual } from 'node:util';
import type { Request, Verb } from '../history.ts';
import { isTerminal, type Logged } from '../story.ts';
import type { Rule } from './rule.ts';

/** What may settle a request of these clients, who ask for nothing that is wrong. */
const STATUSES: Record<Verb, readonly number[]> = {
  create: [202],
  answer: [200, 409],
  decline: [200, 409],
  cancel: [200, 409],
};

export const acknowledged: Rule = {
  name: 'what was acknowledged is in the log for ever, unchanged and once',
  *judge({ requests, log }) {
    const created = log.filter(({ type, data }) => type === 'task.created' && data.parentId === null);
    const resolutions = new Map(log.filter(isResolution).map((event) => [event.data.questionId, event]));
    const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event]));
    const tickets = new Map<string, Logged[]>();
    for (const event of created) {
      const { ticket } = event.data.input;
      tickets.set(ticket, [...(tickets.get(ticket) ?? []), event]);
    }

    for (const [ticket, events] of tickets) {
      if (events.length > 1) yield { text: `The request ${ticket} has made ${events.length} tasks.`, evidence: events };
    }
    for (const request of requests) {
      const { verb, target, reply } = request;
      if (reply === null) continue;
      if (!STATUSES[verb].includes(reply.status)) {
        yield { text: `To ${verb} ${target} was refused with ${reply.status}.`, evidence: request };
      } else if (reply.status < 300) {
        const ofVerb = { create: tickets.get(target)?.[0], cancel: ends.get(target) };
        const event = verb === 'create' || verb === 'cancel' ? ofVerb[verb] : resolutions.get(target);
        if (event === undefined || !says(event, request)) {
          const text = `To ${verb} ${target} was acknowledged, and the log says ${event?.text ?? 'nothing'}.`;
          yield { text, evidence: { request, event } };
        }
      }
    }
  },
};

/** Whether a question came to its end by it. */
export function isResolution({ type }: Logged): boolean {
  return /^question\.(answered|declined|expired|cancelled)$/.test(type);
}

/** Whether an event tells what a request was told to have done. What was done before may have been done otherwise. */
function says({ type, taskId, data }: Logged, { verb, body, reply }: Request): boolean {
  const wanted = body as { [field: string]: unknown };
  switch (verb) {
    case 'create':
      return taskId === reply?.body.id && data.agent === wanted.agent && isDeepStrictEqual(data.input, wanted.input);
    case 'answer':
      return type === 'question.answered' && isDeepStrictEqual(data.answers, wanted.answers);
    case 'decline':
      return type === 'question.declined' && (reply?.replayed || data.reason === wanted.reason);
    case 'cancel':
      return type === 'task.cancelled' && (reply?.replayed || data.reason === wanted.reason);
  }
}
