import type { TaskStatus } from '../client/index.ts';

/** Which tasks a list shows; null shows all. */
export interface TaskFilter {
  status: TaskStatus | 'unfinished' | null;
  agent: string | null;
  conversationId: string | null;
}

/** What the page shows, as the address says after its `#`. */
export type Route =
  | { page: 'conversations' }
  | { page: 'start' }
  | { page: 'conversation'; id: string }
  | { page: 'inbox' }
  | { page: 'tasks'; filter: TaskFilter }
  | { page: 'new-task'; agent: string | null }
  | { page: 'task'; id: string }
  | { page: 'unknown' };

export const ALL_TASKS: TaskFilter = { status: null, agent: null, conversationId: null };

const STATUSES: readonly string[] = ['unfinished', 'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'];

/** @param hash as `location.hash` gives it, with its `#` or empty */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?');
  const [section = '', id = '', ...rest] = path.split('/').filter((part) => part !== '');
  if (rest.length > 0) return { page: 'unknown' };
  const query = new URLSearchParams(search);
  switch (section) {
    case '':
      return { page: 'conversations' };
    case 'conversations':
      if (id === 'new') return { page: 'start' };
      return id === '' ? { page: 'conversations' } : { page: 'conversation', id };
    case 'inbox':
      return id === '' ? { page: 'inbox' } : { page: 'unknown' };
    case 'tasks':
      if (id === 'new') return { page: 'new-task', agent: query.get('agent') };
      return id === '' ? { page: 'tasks', filter: filterOf(query) } : { page: 'task', id };
    default:
      return { page: 'unknown' };
  }
}

/** The address of a route, `#` included: what `href` takes. */
export function hrefOf(route: Route): string {
  switch (route.page) {
    case 'conversations':
    case 'inbox':
      return `#/${route.page}`;
    case 'start':
      return '#/conversations/new';
    case 'conversation':
      return `#/conversations/${route.id}`;
    case 'tasks':
      return `#/tasks${searchOf({ status: route.filter.status, agent: route.filter.agent, conversation: route.filter.conversationId })}`;
    case 'new-task':
      return `#/tasks/new${searchOf({ agent: route.agent })}`;
    case 'task':
      return `#/tasks/${route.id}`;
    case 'unknown':
      return '#/';
  }
}

function filterOf(query: URLSearchParams): TaskFilter {
  const status = query.get('status');
  return {
    status: status !== null && isStatus(status) ? status : null,
    agent: query.get('agent'),
    conversationId: query.get('conversation'),
  };
}

export function isStatus(text: string): text is TaskStatus | 'unfinished' {
  return STATUSES.includes(text);
}

function searchOf(values: { [name: string]: string | null }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== null) query.set(name, value);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
