import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import type { Answer, Api, Page } from '../support/api.ts';
import { wholeLog } from '../support/stored-check.ts';
import type { Story } from './story.ts';

/** What a server shows when everything is over. */
export async function readEnding(api: Api): Promise<Pick<Story, 'log' | 'tasks' | 'questions'>> {
  const blocks = await wholeLog(api.url);
  const log = blocks.map(({ id, data }) => ({ ...JSON.parse(data ?? ''), id: id ?? '', text: data ?? '' }));
  return {
    log,
    tasks: await readAll<Task>(api, '/v1/tasks'),
    questions: await readAll<Question>(api, '/v1/questions'),
  };
}

async function readAll<Item>(api: Api, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let page: string | null = ''; page !== null; ) {
    const next: string = `${path}?limit=200${page === '' ? '' : `&page=${page}`}`;
    // A connection that was kept may be closed in the instant in which it is used again.
    const { body, status, text }: Answer<Page<Item>> = await api.get<Page<Item>>(next).catch(() => api.get(next));
    if (status !== 200) throw new Error(`${path} is refused with ${status}: ${text}`);
    items.push(...body.items);
    page = body.nextPage;
  }
  return items;
}
