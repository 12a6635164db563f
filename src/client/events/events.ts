import type { EventsQuery } from '../client.ts';
import type { Ending } from '../ending.ts';
import type { Environment, Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import type { StreamItem } from '../event.ts';
import type { Requests } from '../requests/request.ts';
import type { ConnectionBoard, Report } from './connection-board.ts';
import type { Feed } from './feed.ts';
import { followLog } from './follow-log.ts';
import type { LogQuery } from './page.ts';
import { sharedEvents } from './shared-events.ts';

export interface EventsDependencies {
  requests: Requests;
  waker: Waker;
  environment: Environment;
  canStream: boolean;
  board: ConnectionBoard;
  /** Null gives each iteration a connection of its own. */
  feed: Feed | null;
  closed: Ending;
}

/** @see Client.events */
export function openEvents(
  dependencies: EventsDependencies,
  query: EventsQuery,
): AsyncIterableIterator<StreamItem, void, void> {
  const { requests, waker, environment, canStream, board, feed, closed } = dependencies;
  const { signal: outer, after = null } = query;
  const controller = new AbortController();
  const end = () => controller.abort();
  const { signal } = controller;
  const logQuery = toLogQuery(query);
  const items =
    feed === null
      ? ownEvents()
      : sharedEvents({
          feed,
          requests,
          waker,
          network: environment,
          board,
          query: logQuery,
          filter: query,
          after,
          signal,
        });

  async function* ownEvents(): AsyncGenerator<StreamItem, void, void> {
    const reporter = board.open();
    const report = (own: Report) => reporter.report({ ...own, role: 'alone' });
    try {
      const frames = followLog({
        requests,
        waker,
        canStream,
        network: environment,
        query: logQuery,
        after,
        signal,
        report,
      });
      for await (const frame of frames) yield* frame.items;
    } finally {
      reporter.close();
    }
  }

  for (const ending of [outer, closed]) {
    ending?.addEventListener('abort', end);
    if (ending?.aborted) end();
  }
  function finish(): void {
    end();
    for (const ending of [outer, closed]) ending?.removeEventListener('abort', end);
  }

  return {
    async next() {
      try {
        const result = await items.next();
        if (!result.done && !signal.aborted) return result;
        finish();
        // One that was aborted while its caller was busy stands at its last item still.
        await items.return();
        return { done: true, value: undefined };
      } catch (error) {
        finish();
        throw error;
      }
    },
    /** Also while a `next` is under way, which then ends: a generator alone would wait for the next event. */
    async return() {
      finish();
      await items.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function toLogQuery({ taskId, conversationId, types = [] }: EventsQuery): LogQuery {
  if (taskId !== undefined && conversationId !== undefined) {
    throw new HoldfastError('invalid_request', 'Events are those of a task or of a conversation, not of both.');
  }
  if (taskId !== undefined) return { path: `/v1/tasks/${encodeURIComponent(taskId)}/events`, types };
  if (conversationId !== undefined) {
    return { path: `/v1/conversations/${encodeURIComponent(conversationId)}/events`, types };
  }
  return { path: '/v1/events', types };
}
