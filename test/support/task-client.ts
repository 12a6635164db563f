import type { LogEvent } from './sse-reader.ts';

/** An event of the log as a page shows it: with the cursor that stands at it. */
export type PagedEvent = LogEvent & { id: string };

export interface EventsPage {
  events: PagedEvent[];
  cursor: string;
  caughtUp: boolean;
  done: boolean;
}

/** Creates a task. @returns its id */
export async function createTask(url: string, agent: string, input: object = {}): Promise<string> {
  const { id } = await post(`${url}/v1/tasks`, { agent, input });
  return id;
}

/** Waits until the task is waiting for its one question, which it then answers with `true`. */
export async function questionOf(url: string, taskId: string): Promise<{ answer(): Promise<void> }> {
  for (let status = ''; status !== 'waiting'; ) {
    ({ status } = await getJson(`${url}/v1/tasks/${taskId}?wait=30`));
    if (status === 'completed' || status === 'failed') throw new Error(`The task ${status} and asked nothing.`);
  }
  const { items } = await getJson(`${url}/v1/questions?status=pending&taskId=${taskId}`);
  return {
    async answer() {
      await post(`${url}/v1/questions/${items[0].id}/answers`, { answer: true });
    },
  };
}

/** Waits for the end of the task. @returns it */
// biome-ignore lint/suspicious/noExplicitAny: tests look into every shape of it
export async function finished(url: string, taskId: string): Promise<any> {
  for (;;) {
    const task = await getJson(`${url}/v1/tasks/${taskId}?wait=30`);
    if (task.finishedAt !== null) return task;
  }
}

/** Everything that a stream has to tell, read by the page. @param path that of the stream */
export async function readLog(url: string, path: string): Promise<PagedEvent[]> {
  const events: PagedEvent[] = [];
  for (let after = '0'; ; ) {
    const page = await readPage(url, path, `after=${after}&limit=1000`);
    events.push(...page.events);
    if (page.caughtUp) return events;
    after = page.cursor;
  }
}

export function readPage(url: string, path: string, query: string): Promise<EventsPage> {
  return getJson(`${url}${path}?${query}`);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into every shape of it
async function getJson(url: string): Promise<any> {
  const response = await fetch(url, { headers: { Accept: 'application/json' } });
  if (!response.ok) throw new Error(`GET ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into every shape of it
async function post(url: string, body: object): Promise<any> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
