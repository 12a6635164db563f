import { createApi } from '../support/api.ts';

interface LogEvent {
  seq: number;
  type: string;
  taskId: string | null;
  rootId?: string;
  data: { n?: number };
}

interface ListedTask {
  id: string;
  status: string;
  parentId: string | null;
}

type Get = <Body>(path: string) => Promise<Body>;

const TERMINAL = /^task\.(completed|failed|cancelled)$/;
const AT_ONCE = 16;

/**
 * What is wrong with the log of a server at rest: each task's own events begin with its creation, end with its one end
 * and have no mark left out, and the stream of each tells what the log of all tells of it.
 */
export async function logFaults(url: string, own: Record<string, string>): Promise<string[]> {
  const api = createApi(url);
  const get: Get = async <Body>(path: string) =>
    (await api.get<Body>(path, { Accept: 'application/json', ...own })).body;
  const tasks = await allTasks(get);
  const log = await allEvents(get, '/v1/events');
  const faults: string[] = [];
  if (log.some(({ seq }, index) => seq <= (log[index - 1]?.seq ?? 0))) faults.push('the log is not in order');
  const ofTask = grouped(log, ({ taskId }) => taskId);
  const ofTree = grouped(log, ({ taskId, rootId }) => rootId ?? taskId);
  for (const task of tasks) faults.push(...lifeFaults(task, ofTask.get(task.id) ?? []));
  const roots = tasks.filter(({ parentId }) => parentId === null);
  for (let from = 0; from < roots.length; from += AT_ONCE) {
    const some = roots.slice(from, from + AT_ONCE);
    const told = await Promise.all(some.map(({ id }) => allEvents(get, `/v1/tasks/${id}/events`)));
    for (const [index, { id }] of some.entries()) {
      if (seqs(told[index]) !== seqs(ofTree.get(id))) faults.push(`the stream of ${id} differs from the log`);
    }
  }
  return faults;
}

function lifeFaults({ id, status }: ListedTask, events: readonly LogEvent[]): string[] {
  const faults: string[] = [];
  // A turn begins with what somebody wrote.
  const [first, second] = events.map(({ type }) => type);
  const begins = first === 'task.created' || (first === 'message.completed' && second === 'task.created');
  if (!begins) faults.push(`${id} begins with ${first} and ${second}`);
  const ends = events.filter(({ type }) => TERMINAL.test(type));
  if (ends.length !== 1 || ends[0] !== events.at(-1)) faults.push(`${id} has ${ends.length} ends`);
  if (ends[0]?.type !== `task.${status}`) faults.push(`${id} is ${status}, and its log ends with ${ends[0]?.type}`);
  const marks = events.filter(({ type }) => type.startsWith('fuzz.')).map(({ data }) => data.n ?? -1);
  const hasHole = marks.some((n, index) => n !== 0 && n !== (marks[index - 1] ?? -1) + 1);
  if (hasHole) faults.push(`${id} has the marks ${marks}`);
  return faults;
}

async function allTasks(get: Get): Promise<ListedTask[]> {
  const tasks: ListedTask[] = [];
  for (let page: string | null = ''; page !== null; ) {
    const path = `/v1/tasks?limit=200${page === '' ? '' : `&page=${page}`}`;
    const answer: { items: ListedTask[]; nextPage: string | null } = await get(path);
    tasks.push(...answer.items);
    page = answer.nextPage;
  }
  return tasks;
}

async function allEvents(get: Get, path: string): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  for (let after = '0'; ; ) {
    const page = await get<{ events: LogEvent[]; cursor: string; caughtUp: boolean }>(
      `${path}?after=${after}&limit=1000`,
    );
    events.push(...page.events);
    if (page.caughtUp) return events;
    after = page.cursor;
  }
}

function grouped(events: readonly LogEvent[], keyOf: (event: LogEvent) => string | null): Map<string, LogEvent[]> {
  const groups = new Map<string, LogEvent[]>();
  for (const event of events) {
    const key = keyOf(event) ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return groups;
}

function seqs(events: readonly LogEvent[] = []): string {
  return events.map(({ seq }) => seq).join();
}
