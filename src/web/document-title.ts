import { titleWords } from './nav/title-words.ts';
import type { OverviewState } from './overview/overview-state.ts';
import type { Route } from './route.ts';

/** What the browser's tab says: how many questions wait, and what is shown. */
export function documentTitle(route: Route, { questions, conversations, tasks }: OverviewState): string {
  const count = questions.size === 0 ? '' : `(${questions.size}) `;
  const page = pageTitle(route, conversations, tasks);
  return `${count}${page === null ? '' : `${page} · `}Holdfast`;
}

function pageTitle(
  route: Route,
  conversations: OverviewState['conversations'],
  tasks: OverviewState['tasks'],
): string | null {
  switch (route.page) {
    case 'conversation': {
      const conversation = conversations.get(route.id);
      return conversation === undefined ? 'Conversation' : titleWords(conversation);
    }
    case 'start':
      return 'New conversation';
    case 'inbox':
      return 'Inbox';
    case 'tasks':
      return 'Tasks';
    case 'new-task':
      return 'New task';
    case 'task':
      return tasks.get(route.id)?.agent ?? 'Task';
    default:
      return null;
  }
}
