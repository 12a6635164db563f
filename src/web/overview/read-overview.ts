import type { Client, Page } from '../../client/index.ts';
import type { OverviewState } from './overview-state.ts';

const PAGE_SIZE = 200;
/** How many pages of unfinished tasks, and of pending questions, are looked at: a thousand of each. */
const MAX_PAGES = 5;

export interface OverviewReading {
  state: OverviewState;
  /** A stream after it tells everything that the reads may or may not show. */
  cursor: string;
  /** Of the conversations. */
  nextPage: string | null;
  /** Whether there are more pending questions than were read. */
  hasMoreQuestions: boolean;
}

/** Reads what there is. The first read's cursor is the oldest, so what happens between the reads is told again. */
export async function readOverview(client: Client, signal: AbortSignal): Promise<OverviewReading> {
  const conversations = await client.conversations.list({ limit: PAGE_SIZE }, { signal });
  const { items: tasks } = await everyPage((page) =>
    client.tasks.list({ ...page, status: ['unfinished'], order: 'asc' }, { signal }),
  );
  const questions = await everyPage((page) => client.questions.list({ ...page, status: 'pending' }, { signal }));
  return {
    hasMoreQuestions: questions.hasMore,
    state: {
      conversations: byId(conversations.items),
      tasks: byId(tasks),
      questions: byId(questions.items),
      resolved: [],
    },
    // The page's own server hides no header; an empty cursor would begin where unfinished work began.
    cursor: conversations.cursor ?? '',
    nextPage: conversations.nextPage,
  };
}

export function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

async function everyPage<T>(
  read: (page: { limit: number; page?: string }) => Promise<Page<T>>,
): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = [];
  let page: string | null = null;
  for (let count = 0; count < MAX_PAGES; count++) {
    const next: Page<T> = await read({ limit: PAGE_SIZE, ...(page !== null && { page }) });
    items.push(...next.items);
    page = next.nextPage;
    if (page === null) break;
  }
  return { items, hasMore: page !== null };
}
