import type { Message } from '../../model/event.ts';
import type { Entry } from './conversation-view.ts';

/** Crockford's, of the server's ids. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** When an entry began, epoch ms by the server's clock. An outgoing one has not: it comes last. */
export function timeOf(entry: Entry): number {
  switch (entry.kind) {
    case 'message':
      return messageTime(entry.message);
    case 'text':
      return idTime(entry.messageId);
    case 'activity':
      return Date.parse(entry.startedAt);
    case 'question':
      return Date.parse(entry.question.askedAt);
    case 'notice':
      return Date.parse(entry.at);
    case 'outgoing':
      return Number.POSITIVE_INFINITY;
  }
}

/**
 * A message has its id from its first word on, and is stored when it is complete. So its id tells where an event would
 * have put it, but for the one message of a turn that has said nothing: that has the turn's id.
 */
function messageTime({ id, taskId, createdAt }: Message): number {
  return id.slice('msg_'.length) === taskId.slice('task_'.length) ? Date.parse(createdAt) : idTime(id);
}

/** @param id made from a UUIDv7, whose first 48 bits are a time: two zero bits and those are ten digits */
function idTime(id: string): number {
  return [...id.slice('msg_'.length, 'msg_'.length + 10)].reduce((time, digit) => time * 32 + DIGITS.indexOf(digit), 0);
}
