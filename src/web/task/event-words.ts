import { isServerEvent, type LogEvent } from '../../client/index.ts';
import { durationWords } from '../words/duration.ts';
import { jsonLine } from '../words/json-line.ts';

const MAX_LENGTH = 200;

/** What an event tells, in one line. */
export function eventWords(event: LogEvent): string {
  if (!isServerEvent(event)) return jsonLine(event.data, MAX_LENGTH);
  switch (event.type) {
    case 'task.created':
      return `${event.data.agent}: ${jsonLine(event.data.input, MAX_LENGTH)}`;
    case 'task.progress': {
      const { fraction, note } = event.data;
      return [fraction === null ? null : `${Math.round(fraction * 100)} %`, note]
        .filter((each) => each !== null)
        .join(', ');
    }
    case 'task.waiting':
      return `for ${event.data.for.join(', ')}`;
    case 'task.retrying':
    case 'task.failed':
    case 'step.failed':
      return `${event.data.error.code}: ${event.data.error.message}`.slice(0, MAX_LENGTH);
    case 'task.completed':
      return jsonLine(event.data.output, MAX_LENGTH);
    case 'step.completed':
      return `${event.data.name}, ${durationWords(event.data.ms)}`;
    case 'step.started':
      return event.data.attempt > 1 ? `${event.data.name}, attempt ${event.data.attempt}` : event.data.name;
    case 'tool.called':
      return `${event.data.name}: ${jsonLine(event.data.input, MAX_LENGTH)}`;
    case 'tool.returned': {
      const { data } = event;
      return 'error' in data ? data.error.message.slice(0, MAX_LENGTH) : jsonLine(data.output, MAX_LENGTH);
    }
    case 'message.delta':
      return jsonLine(event.data.text, MAX_LENGTH);
    case 'message.completed':
      return jsonLine(event.data.message.content, MAX_LENGTH);
    case 'question.asked':
      return jsonLine(event.data.question.items[0]?.prompt ?? '', MAX_LENGTH);
    default:
      return jsonLine(event.data, MAX_LENGTH);
  }
}
