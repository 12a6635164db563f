import { isServerEvent, type LogEvent, type Question } from '../client/index.ts';
import type { App } from './app-context.ts';
import { titleWords } from './nav/title-words.ts';
import type { Route } from './route.ts';
import { resolutionNews } from './words/resolution.ts';

/** Says of every question that it is asked and how it ends, to who listens rather than looks, and to who is elsewhere. */
export function watchQuestions({ overview, navigation, notifications, announce }: App): void {
  overview.onEvent((event: LogEvent) => {
    if (!isServerEvent(event)) return;
    switch (event.type) {
      case 'question.asked':
        tellOf(event.data.question);
        break;
      case 'question.answered':
      case 'question.declined':
      case 'question.expired':
      case 'question.cancelled': {
        const { questionId } = event.data;
        const question = overview.state.value.resolved.find(({ id }) => id === questionId);
        if (question !== undefined) announce(`${resolutionNews(question)}.`);
      }
    }
  });

  function tellOf(question: Question): void {
    const where = placeWords(question);
    announce(`New question from ${where}: ${question.items[0]?.prompt ?? ''}`);
    const { conversationId } = question;
    const route: Route = conversationId === null ? { page: 'inbox' } : { page: 'conversation', id: conversationId };
    void notifications.notify(question, `${where} asks`, () => navigation.go(route));
  }

  function placeWords({ conversationId, taskId }: Question): string {
    const { conversations, tasks } = overview.state.value;
    const conversation = conversationId === null ? undefined : conversations.get(conversationId);
    return conversation === undefined ? (tasks.get(taskId)?.agent ?? 'A task') : titleWords(conversation);
  }
}
