import { backoffMs } from '../backoff.ts';
import type { EventsQuery } from '../client.ts';
import type { Network, Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import type { CaughtUp, LogEvent, StreamItem } from '../event.ts';
import { pause } from '../pause.ts';
import type { Requests } from '../requests/request.ts';
import type { ConnectionBoard } from './connection-board.ts';
import { isAfter, isSameEpoch, seqOf } from './cursor.ts';
import type { Feed } from './feed.ts';
import { isDefinite } from './follow-log.ts';
import { openMailbox } from './mailbox.ts';
import { type LogQuery, type PageFrame, readPage } from './page.ts';

export interface SharedOptions {
  feed: Feed;
  requests: Requests;
  waker: Waker;
  network: Network;
  board: ConnectionBoard;
  query: LogQuery;
  filter: Pick<EventsQuery, 'taskId' | 'conversationId'>;
  after: string | null;
  signal: AbortSignal;
}

/**
 * The events of a part of the log, out of the feed that is shared. What was before is read in pages, while the feed is
 * listened to already; where the two meet, an event's seq tells whether it was told. Whenever the feed has a hole, it
 * is read in pages again.
 */
export async function* sharedEvents(options: SharedOptions): AsyncGenerator<StreamItem, void, void> {
  const { feed, filter, query, signal } = options;
  const mailbox = openMailbox(feed, signal);
  let position = options.after;
  try {
    while (!signal.aborted) {
      mailbox.clear();
      for (let isBehind = false; ; isBehind = true) {
        const page = await catchUp(options, position, isBehind);
        if (page === null) return;
        position = page.to ?? position;
        yield* page.items;
        if (page.ended || signal.aborted) return;
        if (page.caughtUp) break;
      }
      if (position === null) continue;
      yield { type: 'caught-up', id: position };

      for (;;) {
        const frame = await mailbox.take();
        if (frame === null) break;
        const reset = frame.items[0];
        if (reset?.type === 'reset') {
          yield reset;
          position = reset.id;
          break;
        }
        // Of another epoch it may tell another past, which the server knows.
        if (frame.from === null || !isSameEpoch(frame.from, position) || isAfter(frame.from, position)) break;
        for (const event of frame.items as (LogEvent | CaughtUp)[]) {
          if (event.type === 'caught-up') {
            yield { type: 'caught-up', id: position };
            continue;
          }
          if (event.seq <= seqOf(position)) continue;
          position = event.id;
          if (passes(event, filter, query.types)) yield event;
          if (isEnd(event, filter)) return;
        }
        if (frame.to !== null && isAfter(frame.to, position)) position = frame.to;
      }
    }
  } finally {
    mailbox.close();
  }
}

/** The next page, however long it takes; null when the signal was aborted first. */
async function catchUp(options: SharedOptions, after: string | null, isBehind: boolean): Promise<PageFrame | null> {
  const { board, waker, network, signal } = options;
  const reporter = board.open();
  if (isBehind) reporter.report({ status: 'catching-up' });
  try {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return await readPage({ ...options, after, waitSeconds: 0 });
      } catch (error) {
        if (signal.aborted) return null;
        if (isDefinite(error)) {
          reporter.report({ status: 'refused', code: error instanceof HoldfastError ? error.code : null });
          throw error;
        }
        const waitMs = backoffMs(failures);
        reporter.report({ status: network.isOnline() ? 'reconnecting' : 'offline', retryAt: Date.now() + waitMs });
        await pause(waitMs, waker, signal);
        reporter.report({ status: 'reconnecting' });
      }
    }
    return null;
  } finally {
    reporter.close();
  }
}

function passes(
  { taskId, rootId, conversationId, type }: LogEvent,
  filter: SharedOptions['filter'],
  types: LogQuery['types'],
): boolean {
  if (filter.taskId !== undefined && filter.taskId !== taskId && filter.taskId !== rootId) return false;
  if (filter.conversationId !== undefined && filter.conversationId !== conversationId) return false;
  return types.length === 0 || types.some((wanted) => matches(type, wanted));
}

function matches(type: string, wanted: string): boolean {
  return wanted.endsWith('.*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

function isEnd({ taskId, conversationId, type }: LogEvent, filter: SharedOptions['filter']): boolean {
  if (filter.taskId !== undefined) return filter.taskId === taskId && /^task\.(completed|failed|cancelled)$/.test(type);
  return (
    filter.conversationId !== undefined && filter.conversationId === conversationId && type === 'conversation.deleted'
  );
}
