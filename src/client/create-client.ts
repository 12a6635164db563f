import type { Client } from './client.ts';
import { createEnding } from './ending.ts';
import { findEnvironment, type WakeCause, type Waker } from './environment.ts';
import { createConnectionBoard } from './events/connection-board.ts';
import { openEvents } from './events/events.ts';
import { createFeed } from './events/feed.ts';
import type { ClientOptions } from './options.ts';
import { createAgents } from './requests/agents.ts';
import { createConversations } from './requests/conversations.ts';
import { createQuestions } from './requests/questions.ts';
import { createRequests } from './requests/request.ts';
import { createRetrying } from './requests/retry.ts';
import { createTasks } from './requests/tasks.ts';
import { setWaker } from './waker-of.ts';

export function createClient(options: ClientOptions): Client {
  const environment = findEnvironment();
  const closed = createEnding();
  const board = createConnectionBoard();
  const calls = new Set<(cause: WakeCause) => void>();
  const waker: Waker = {
    onWake(listener) {
      const own = (cause: WakeCause) => listener(cause);
      calls.add(own);
      const stop = environment.onWake(own);
      return () => {
        calls.delete(own);
        stop();
      };
    },
  };
  const requests = createRequests(options, closed);
  const retrying = createRetrying(requests, waker, closed);
  const canStream = options.fetch !== undefined || environment.canStream;
  const shares = options.share ?? environment.isPage;
  const name = feedName(options);
  const feed = shares ? createFeed({ requests, waker, environment, canStream, board, name, closed }) : null;

  const client: Client = {
    agents: createAgents(retrying),
    tasks: createTasks(retrying),
    questions: createQuestions(retrying),
    conversations: createConversations(retrying),
    connection: board.connection,
    events: (query = {}) => openEvents({ requests, waker, environment, canStream, board, feed, closed }, query),
    wake() {
      for (const call of [...calls]) call('attention');
    },
    close: closed.abort,
  };
  setWaker(client, waker);
  return client;
}

/** What tabs share a connection by; null where it cannot be known whose events these are. */
function feedName({ url, account, token, ticket }: ClientOptions): string | null {
  const knowsItself = token === undefined && ticket === undefined;
  const whose =
    account ?? (knowsItself ? '' : typeof token === 'string' && ticket === undefined ? digest(token) : null);
  return whose === null ? null : `holdfast/1 ${url} ${whose}`;
}

/** Tells tokens apart in a name that other scripts of the page can see; no secret is to be read from it. */
function digest(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return `#${(hash >>> 0).toString(36)}`;
}
