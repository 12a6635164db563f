import { eventsByTask, isTerminal, type Logged } from '../story.ts';
import type { Finding, Rule } from './rule.ts';

interface OpenMessage {
  started: Logged;
  text: string;
}

export const closedMessages: Rule = {
  name: 'a message is completed or discarded, and what a step said is void before it runs again',
  *judge({ log }) {
    for (const [taskId, events] of eventsByTask(log)) yield* judgeTask(taskId, events);
  },
};

function* judgeTask(taskId: string, events: readonly Logged[]): Iterable<Finding> {
  const open = new Map<string, OpenMessage>();
  const seen = new Set<string>();
  const completed: Logged[] = [];
  for (const event of events) {
    const { type, data } = event;
    const id: string = data.messageId ?? data.message?.id;
    const message = open.get(id);
    switch (type) {
      case 'message.started':
        if (seen.has(id)) yield { text: `${id} is started again.`, evidence: event };
        seen.add(id);
        open.set(id, { started: event, text: '' });
        break;
      case 'message.delta':
        if (message === undefined) yield { text: `${id} goes on and is not open.`, evidence: event };
        else message.text += data.text;
        break;
      case 'message.completed':
      case 'message.discarded':
        if (message === undefined) yield { text: `${id} is closed and was not open.`, evidence: event };
        if (type === 'message.completed' && message !== undefined) {
          completed.push(event);
          // The end of a message that broke off may never have been sent.
          if (data.message.status === 'complete' && data.message.content !== message.text) {
            yield { text: `${id} has another text than its deltas.`, evidence: { event, deltas: message.text } };
          }
        }
        open.delete(id);
        break;
      case 'step.started':
        for (const { started } of open.values()) {
          if (started.step?.name === data.name && started.step?.attempt !== data.attempt) {
            yield {
              text: `${data.name} of ${taskId} runs again, and its message is open.`,
              evidence: { started, event },
            };
          }
        }
        break;
      case 'step.completed':
        for (const { step } of completed) {
          if (step?.name === data.name && step?.attempt !== data.attempt) {
            yield { text: `${data.name} of ${taskId} keeps a message of attempt ${step?.attempt}.`, evidence: event };
          }
        }
    }
    if (isTerminal(event) && open.size > 0) {
      yield { text: `${taskId} ends with ${open.size} messages open.`, evidence: [...open.values()] };
    }
  }
}
