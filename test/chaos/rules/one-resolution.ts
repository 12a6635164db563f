import { isDeepStrictEqual } from 'node:util';
import type { Question } from '../../../src/model/question.ts';
import type { Logged } from '../story.ts';
import { isResolution } from './acknowledged.ts';
import type { Rule } from './rule.ts';

export const oneResolution: Rule = {
  name: 'a question is asked once and has one resolution, which everybody is told',
  *judge({ log, questions, requests }) {
    const asked = new Map<string, Logged>();
    const keys = new Map<string, Logged>();
    const resolved = new Map<string, Logged>();
    for (const event of log) {
      if (event.type === 'question.asked') {
        const { id, name } = event.data.question;
        const before = asked.get(id) ?? keys.get(`${event.taskId} ${name}`);
        if (before !== undefined)
          yield { text: `${name} of ${event.taskId} is asked again.`, evidence: [before, event] };
        asked.set(id, event);
        keys.set(`${event.taskId} ${name}`, event);
      } else if (isResolution(event)) {
        const id = event.data.questionId;
        const before = resolved.get(id);
        if (before !== undefined) yield { text: `${id} is resolved again.`, evidence: [before, event] };
        else resolved.set(id, event);
        if (!asked.has(id)) yield { text: `${id} is resolved and was not asked before.`, evidence: event };
      }
    }

    const shown = new Map(questions.map((question) => [question.id, question]));
    for (const [id, event] of asked) {
      const question = shown.get(id);
      if (question === undefined) yield { text: `${id} was asked and is not among the questions.`, evidence: event };
      else if (!shows(question, resolved.get(id))) {
        yield { text: `${id} is not shown as it was resolved.`, evidence: { question, resolution: resolved.get(id) } };
      }
    }
    for (const request of requests) {
      const { verb, target, body, reply } = request;
      if ((verb !== 'answer' && verb !== 'decline') || reply?.status !== 409) continue;
      const resolution = resolved.get(target);
      const own =
        verb === 'answer' && isDeepStrictEqual(resolution?.data.answers, (body as { answers?: object }).answers);
      if (own || resolution === undefined || !shows(reply.body.question, resolution)) {
        const text = `${target} was refused to ${request.client} by what did not resolve it.`;
        yield { text, evidence: { request, resolution } };
      }
    }
  },
};

function shows({ status, answers, reason }: Question, resolution: Logged | undefined): boolean {
  if (resolution === undefined) return status === 'pending';
  const { data } = resolution;
  return (
    resolution.type === `question.${status}` &&
    isDeepStrictEqual(answers, data.answers ?? null) &&
    reason === (data.reason ?? null)
  );
}
