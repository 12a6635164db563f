import path from 'node:path';
import Database from 'better-sqlite3';
import { formatCursor } from '../../src/model/cursor.ts';
import { epochAt } from '../../src/model/epoch.ts';
import { eventJson } from '../../src/model/event.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { readToSignal } from '../support/reader-crowd.ts';
import { isSignal, type LogEvent } from '../support/sse-reader.ts';
import type { Fact, Follower, Order } from './power-cut-client.ts';

/** What a directory holds for a store that opens it. */
export interface Kept {
  /** The log: the event of a seq at `[seq - 1]`. */
  readonly log: readonly KeptEvent[];
  isTrue(fact: Fact): boolean;
}

export interface KeptEvent {
  cursor: string;
  /** The JSON that clients see. */
  text: string;
}

const OWNER = 'local';
const PAGE_EVENTS = 200;
const ALL = Number.MAX_SAFE_INTEGER;

/** Opens a directory as a server does when it starts. @throws Error when its database or its log is not whole */
export async function readKept(dir: string): Promise<Kept> {
  const store = openSqliteStoreInProcess({ dir });
  const log = await readLog(store);
  const tasks = byId(await store.listTasks(OWNER, { limit: ALL, order: 'asc' }));
  const questions = byId(await store.listQuestions(OWNER, { limit: ALL }));
  await store.close();
  checkIntegrity(dir);
  const sheets = new Set(log.flatMap(({ text }) => sheetOf(text) ?? []));
  return {
    log,
    isTrue(fact) {
      switch (fact.kind) {
        case 'created':
          return tasks.has(fact.taskId);
        case 'cancelled':
          return tasks.get(fact.taskId)?.status === 'cancelled';
        case 'answered': {
          const resolution = questions.get(fact.questionId)?.resolution ?? null;
          return resolution?.status === 'answered' && resolution.answers.go === fact.answer;
        }
        case 'event':
          return isIn(log, fact);
        case 'heard':
          return sheets.has(`${fact.taskId} ${fact.n}`);
      }
    },
  };
}

async function readLog(store: Store): Promise<KeptEvent[]> {
  const { head, epochs } = await store.log(OWNER);
  const log: KeptEvent[] = [];
  for (let after = 0; after < head; ) {
    const query = { scope: { kind: 'log' }, after, upTo: head, unfinishedAt: null, limit: PAGE_EVENTS } as const;
    const { events, scannedTo } = await store.readEvents(OWNER, query);
    for (const event of events) {
      if (event.seq !== log.length + 1) throw new Error(`The log has a hole before ${event.seq}.`);
      log.push({ cursor: formatCursor(epochAt(epochs, event.seq), event.seq), text: eventJson(event) });
    }
    after = scannedTo;
  }
  if (log.length !== head) throw new Error(`The log ends at ${log.length}, and its head is ${head}.`);
  return log;
}

function checkIntegrity(dir: string): void {
  const db = new Database(path.join(dir, 'holdfast.db'), { readonly: true });
  const found = db.pragma('integrity_check', { simple: true });
  const orphans = db.pragma('foreign_key_check');
  db.close();
  if (found !== 'ok') throw new Error(`The database is damaged: ${found}`);
  if (Array.isArray(orphans) && orphans.length > 0) throw new Error(`Rows refer to none: ${JSON.stringify(orphans)}`);
}

/** A retelling has cursors of its own for the same events. */
function isIn(log: readonly KeptEvent[], { cursor, text }: KeptEvent): boolean {
  const kept = log[seqOf(cursor) - 1];
  return kept?.text === text && (kept.cursor === cursor || untilOf(cursor) !== null);
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

function sheetOf(text: string): string | null {
  if (!text.includes('"type":"press.sheet"')) return null;
  const { taskId, data }: LogEvent = JSON.parse(text);
  return `${taskId} ${data.n}`;
}

/** The facts about events whose seq belongs to another event in this log. */
export function reused<F extends Fact>(facts: Iterable<F>, log: readonly KeptEvent[]): F[] {
  return [...facts].filter((fact) => fact.kind === 'event' && seqOf(fact.cursor) <= log.length && !isIn(log, fact));
}

/** The orders of which a log has more than one task. Each has an input of its own. */
export function doubledOrders(orders: readonly Order[], log: readonly KeptEvent[]): string[] {
  const seen = new Set<string>();
  const doubled = new Set<string>();
  for (const { text } of log) {
    if (!text.includes('"type":"task.created"')) continue;
    const event: LogEvent = JSON.parse(text);
    const input = JSON.stringify(event.data.input);
    (seen.has(input) ? doubled : seen).add(input);
  }
  return orders.map(({ input }) => JSON.stringify(input)).filter((input) => doubled.has(input));
}

/**
 * Goes on from the cursor of an event that somebody was told of, over the stream and by the page.
 *
 * @param log what the directory held when the server was started over it
 * @returns what is wrong, or null: where the event is kept, all that is behind it must be served, and only that; where it
 *   is not, the client must be told so, whatever its seq stands for now
 */
export async function cursorFault(url: string, event: KeptEvent, log: readonly KeptEvent[]): Promise<string | null> {
  const blocks = await readToSignal(`${url}/v1/events`, event.cursor, 'caught-up');
  const response = await fetch(`${url}/v1/events?after=${event.cursor}&limit=1`, {
    headers: { Accept: 'application/json' },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a page or a problem
  const page: any = await response.json();
  const reset = blocks.find((block) => block.event === 'reset');
  if (!isIn(log, event)) {
    const reasons = [JSON.parse(blocks[0]?.event === 'reset' ? (blocks[0].data ?? '') : '{}').reason, page.reason];
    const isTold = response.status === 410 && reasons.every((reason) => reason === 'ahead' || reason === 'unknown');
    return isTold ? null : `${event.cursor} is lost, and served: ${response.status}, ${reasons}`;
  }
  if (reset !== undefined || response.status !== 200)
    return `${event.cursor} is kept, and refused: ${reset?.data}, ${response.status}`;
  const rest = log.slice(seqOf(event.cursor));
  const told = blocks.filter((block) => !isSignal(block));
  const differs = rest.findIndex(({ cursor, text }, index) => told[index]?.id !== cursor || told[index]?.data !== text);
  if (differs >= 0) return `After ${event.cursor} the stream tells ${told[differs]?.id} for ${rest[differs]?.cursor}.`;
  const [next] = page.events;
  if (rest[0] !== undefined && next?.id !== rest[0].cursor)
    return `After ${event.cursor} the page tells ${next?.id} for ${rest[0].cursor}.`;
  return null;
}

/**
 * What is wrong with what came on a stream that was taken up again and again: each seq once, in their order, but for those
 * that a retelling leaves out, and what a reset takes back.
 */
export function followFaults({ connections }: Follower): string[] {
  const faults: string[] = [];
  let last = '0';
  for (const { event, id } of connections.flat()) {
    if (id === null) continue;
    if (event === null) {
      const isNext = untilOf(id) === null ? seqOf(id) === (untilOf(last) ?? seqOf(last)) + 1 : seqOf(id) > seqOf(last);
      if (!isNext) faults.push(`${id} came after ${last}.`);
    }
    last = id;
  }
  return faults;
}

export function resetsOf({ connections }: Follower): number {
  return connections.flat().filter(({ event }) => event === 'reset').length;
}

function seqOf(cursor: string): number {
  return Number(cursor.split('.')[1] ?? 0);
}

/** Of a retelling's cursor; null for any other. */
export function untilOf(cursor: string): number | null {
  const until = cursor.split('.')[2];
  return until === undefined ? null : Number(until);
}
