import type { Api } from './api.ts';
import type { LogEvent } from './sse-reader.ts';

/** An event of the log as a page shows it: with the cursor that stands at it. */
export type PagedEvent = LogEvent & { id: string };

/** @see docs/protocol.md §5.6 */
export interface EventsPage {
  events: PagedEvent[];
  cursor: string;
  caughtUp: boolean;
  done: boolean;
}

export async function readPage(api: Api, path: string, query: string): Promise<EventsPage> {
  const { status, text, body } = await api.get<EventsPage>(`${path}?${query}`, { Accept: 'application/json' });
  if (status !== 200) throw new Error(`Refused with ${status}: ${text}`);
  return body;
}

/** Everything that there is to tell at present, by the page. @param path that of the stream */
export async function readLog(api: Api, path: string): Promise<PagedEvent[]> {
  const events: PagedEvent[] = [];
  for (let after = '0'; ; ) {
    const page = await readPage(api, path, `after=${after}&limit=1000`);
    events.push(...page.events);
    if (page.caughtUp) return events;
    after = page.cursor;
  }
}
