import type { Message } from '../../src/model/event.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import type { LogEvent } from './sse-reader.ts';

/** What a page shows of a conversation. */
export interface ChatPage {
  /** By id. `streaming` while more of it is going to come. */
  messages: Map<string, { role: string; text: string; status: 'streaming' | 'complete' | 'partial' }>;
  /** Ids of the questions that wait for an answer. */
  questions: Set<string>;
  /** Ids of the tasks that are unfinished, children too. */
  tasks: Set<string>;
  /** Of unfinished tasks: what they call, by the id of the call. What has ended shows its messages alone. */
  tools: Map<string, { taskId: string; name: string; outcome: 'none' | 'output' | 'error' }>;
}

export function emptyPage(): ChatPage {
  return { messages: new Map(), questions: new Set(), tasks: new Set(), tools: new Map() };
}

/** A page that was just loaded. @see docs/protocol.md §7, recovery of a page */
export function loadedPage(
  open: { unfinishedTasks: readonly Task[]; pendingQuestions: readonly Question[] },
  messages: readonly Message[],
): ChatPage {
  const page = emptyPage();
  for (const { id, role, content, status } of messages) page.messages.set(id, { role, text: content, status });
  for (const { id } of open.pendingQuestions) page.questions.add(id);
  for (const { id } of open.unfinishedTasks) page.tasks.add(id);
  return page;
}

/** Shows an event, which may be one that the page was loaded with. */
export function show(page: ChatPage, { type, taskId, data }: LogEvent): void {
  const { messages, questions, tasks, tools } = page;
  switch (type) {
    case 'task.created':
      tasks.add(taskId);
      break;
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
      tasks.delete(taskId);
      for (const [id, tool] of tools) if (tool.taskId === taskId) tools.delete(id);
      break;
    case 'question.asked':
      questions.add(data.question.id);
      break;
    case 'question.answered':
    case 'question.declined':
    case 'question.expired':
    case 'question.cancelled':
      questions.delete(data.questionId);
      break;
    case 'message.started':
      if (!isEnded(page, data.messageId))
        messages.set(data.messageId, { role: data.role, text: '', status: 'streaming' });
      break;
    case 'message.delta': {
      const message = messages.get(data.messageId);
      if (message?.status === 'streaming') message.text += data.text;
      break;
    }
    case 'message.completed': {
      const { id, role, content, status } = data.message;
      messages.set(id, { role, text: content, status });
      break;
    }
    case 'message.discarded':
      messages.delete(data.messageId);
      break;
    case 'tool.called':
      tools.set(data.toolCallId, { taskId, name: data.name, outcome: 'none' });
      break;
    case 'tool.returned': {
      const tool = tools.get(data.toolCallId);
      if (tool !== undefined) tool.outcome = 'error' in data ? 'error' : 'output';
      break;
    }
  }
}

/** What was complete when the page was loaded stays so, whatever the stream repeats. */
function isEnded({ messages }: ChatPage, id: string): boolean {
  const status = messages.get(id)?.status;
  return status === 'complete' || status === 'partial';
}
