import type { OpenConversation } from '../../src/client/client.ts';
import { fold, foldOf } from '../../src/client/conversation/conversation-fold.ts';
import type { Entry } from '../../src/client/conversation/conversation-view.ts';
import type { FoldState } from '../../src/client/conversation/fold-state.ts';
import type { LogEvent } from '../../src/client/event.ts';
import type { EventData, Message, ServerEventType, StepRef } from '../../src/model/event.ts';
import { formatId, type IdPrefix } from '../../src/model/id.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';

const BEGIN = Date.parse('2026-11-30T12:00:00.000Z');
const CONVERSATION = 'conv_made';

interface EventMore {
  step?: StepRef;
  rootId?: string;
}

/** A log of one conversation, written by hand: each event comes a second after the one before. */
export interface MadeLog {
  readonly events: readonly LogEvent[];
  /** ISO 8601. */
  now(): string;
  /** An id that was made now. */
  id(prefix: IdPrefix): string;
  add<T extends ServerEventType>(taskId: string | null, type: T, data: EventData[T], more?: EventMore): LogEvent;
  /** What somebody writes. */
  write(taskId: string, content: string): Message;
  /** What an agent says, without its event. */
  said(taskId: string, content: string, id?: string): Message;
  /** A question, without its event. */
  question(taskId: string, name: string): Question;
  /** What is read over REST now, with nothing unfinished unless it is given. */
  read(unfinished?: Partial<Pick<OpenConversation, 'unfinishedTasks' | 'pendingQuestions'>>): OpenConversation;
}

export function createMadeLog(): MadeLog {
  const events: LogEvent[] = [];
  let ms = BEGIN;
  let ids = 0;

  function now(): string {
    return new Date(ms).toISOString();
  }

  function id(prefix: IdPrefix): string {
    ids += 1;
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(ms) << 16n);
    new DataView(bytes.buffer).setUint32(12, ids);
    return formatId(prefix, bytes);
  }

  function message(taskId: string, role: Message['role'], content: string, messageId: string): Message {
    const said = { role, content, status: 'complete', empty: content === '', metadata: {} } as const;
    return { id: messageId, conversationId: CONVERSATION, taskId, ...said, createdAt: now() };
  }

  const log: MadeLog = {
    events,
    now,
    id,
    add(taskId, type, data, more = {}) {
      ms += 1000;
      const seq = events.length + 1;
      const place = { id: `made.${seq}`, seq, taskId, conversationId: CONVERSATION, at: now(), ...more };
      const event = { ...place, type, data } as LogEvent;
      events.push(event);
      return event;
    },
    write(taskId, content) {
      ms += 1000;
      const written = message(taskId, 'user', content, id('msg'));
      ms -= 1000;
      log.add(taskId, 'message.completed', { message: written });
      return written;
    },
    said: (taskId, content, messageId = id('msg')) => message(taskId, 'assistant', content, messageId),
    question: (taskId, name) => ({
      ...{ id: id('qst'), taskId, conversationId: CONVERSATION, name, status: 'pending', items: [], metadata: {} },
      ...{ answers: null, resolvedBy: null, reason: null, askedAt: now(), expiresAt: null, resolvedAt: null },
    }),
    read: (unfinished = {}) => ({
      ...{ id: CONVERSATION, title: null, metadata: {}, createdAt: now(), lastActivityAt: now() },
      ...{ unfinishedTasks: [], pendingQuestions: [], resumeAfter: `made.${events.length}`, ...unfinished },
    }),
  };
  return log;
}

/** A task as REST shows it. */
export function madeTask(id: string, status: Task['status'] = 'running'): Task {
  return {
    ...{ id, agent: 'made', status, conversationId: CONVERSATION, parentId: null, rootId: id, retryOf: null },
    ...{ input: null, output: null, error: null, progress: null, attempt: 1, pendingQuestionCount: 0, metadata: {} },
    ...{ priority: 0, concurrencyKey: null, timeoutMs: 1000, maxAttempts: 1, runAt: null, createdAt: '' },
    ...{ startedAt: null, finishedAt: null, cursor: { before: 'made.0', last: 'made.1' } },
  };
}

/** What somebody is shown who saw all of it. */
export function foldAll({ events, read }: MadeLog): FoldState {
  return events.reduce(fold, foldOf(read(), [], new Map()));
}

/** Entries in short: what they are, and what they say. */
export function outline(entries: readonly Entry[]): string[] {
  return entries.map(inShort);
}

function inShort(entry: Entry): string {
  switch (entry.kind) {
    case 'message':
      return `${entry.message.role}: ${entry.message.content}`;
    case 'text':
      return `writing: ${entry.text}`;
    case 'activity':
      return `${entry.name} ${entry.status}`;
    case 'question':
      return `${entry.question.name} ${entry.question.status}`;
    case 'notice':
      return entry.notice.type;
    case 'outgoing':
      return `${entry.status}: ${entry.content}`;
  }
}
