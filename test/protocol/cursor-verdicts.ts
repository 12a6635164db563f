import { expect } from 'vitest';
import type { Task } from '../../src/model/task.ts';
import { seqOf } from '../support/api.ts';
import { type EventsPage, readLog } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { readToSignal } from '../support/reader-crowd.ts';
import { isNamed, isSignal } from '../support/sse-reader.ts';
import { EVERYTHING, pathOf, type StreamClient } from './stream-client.ts';

const JSON_PAGE = { Accept: 'application/json' };

/** Cursors of the stream of everything, as one reader or another was given them. */
export interface Cursors {
  plain: string[];
  /** Of a retelling. */
  retold: string[];
}

export const NONE: Cursors = { plain: [], retold: [] };

/** A task that ends, and one that waits when this returns. @returns the id of that one */
export async function play(client: StreamClient): Promise<string> {
  await client.playOut({ op: 'emit', count: 2 });
  const waiting = await client.play({ op: 'emit', count: 2 }, { op: 'ask' });
  await client.asks(waiting);
  return waiting;
}

export async function cursorsOf(client: StreamClient): Promise<Cursors> {
  const log = await readLog(client, EVERYTHING);
  const blocks = await readToSignal(`${client.url}${EVERYTHING}`, null, 'caught-up');
  const told = blocks.filter((block) => !isSignal(block)).map(({ id }) => id ?? '');
  return { plain: log.map(({ id }) => id), retold: told.filter((id) => id.split('.').length === 3) };
}

export function without(cursors: Cursors, others: Cursors): Cursors {
  return {
    plain: cursors.plain.filter((id) => !others.plain.includes(id)),
    retold: cursors.retold.filter((id) => !others.retold.includes(id)),
  };
}

/** Expects each of the good ones to go on with exactly the rest, and each of the lost ones to be told that it is. */
export async function expectVerdicts(client: StreamClient, good: Cursors, lost: Cursors): Promise<void> {
  const log = await readLog(client, EVERYTHING);
  const tasks = new Map<string, Task>();
  for (const { taskId } of log) if (!tasks.has(taskId)) tasks.set(taskId, await client.task(taskId));
  /** What a retelling leaves out: tasks that had ended when it began. */
  const isTold = (taskId: string, seq: number, until: number) =>
    seq > until || seqOf(tasks.get(taskId)?.cursor.last ?? '') > until || tasks.get(taskId)?.finishedAt === null;

  const expectRest = async (cursor: string) => {
    const [, after = 0, until = 0] = cursor.split('.').map(Number);
    const rest = log.filter(({ seq, taskId }) => seq > after && isTold(taskId, seq, until));
    const blocks = await readToSignal(`${client.url}${EVERYTHING}`, cursor, 'caught-up');
    expectExactly([blocks], rest);
    expect(blocks.filter(isNamed('reset'))).toEqual([]);
    const page = await client.get<EventsPage>(`${EVERYTHING}?after=${cursor}&limit=1000`, JSON_PAGE);
    expect(page.body.events.map(({ seq }) => seq)).toEqual(rest.map(({ seq }) => seq));
  };
  await Promise.all([...good.plain, ...good.retold].map(expectRest));
  await Promise.all([...lost.plain, ...lost.retold].map((cursor) => expectReset(client, EVERYTHING, cursor)));
  expect(good.plain.length).toBeGreaterThan(0);
}

/** In the stream and by the page, with the same place to go on from, which is good. */
export async function expectReset(client: StreamClient, of: string, cursor: string): Promise<void> {
  const path = pathOf(of);
  const [first] = await readToSignal(`${client.url}${path}`, cursor, 'reset');
  expect(first?.event).toBe('reset');
  const { reason, asked, resumeAfter } = JSON.parse(first?.data ?? '');
  expect(asked).toBe(cursor);
  expect(['unknown', 'ahead']).toContain(reason);
  expect(first?.id).toBe(resumeAfter);

  const page = await client.get(`${path}?after=${cursor}`, JSON_PAGE);
  expect(page).toMatchObject({ status: 410, body: { code: 'cursor_gone', reason, resumeAfter } });
  expect((await client.get(`${path}?after=${resumeAfter}`, JSON_PAGE)).status).toBe(200);
}
