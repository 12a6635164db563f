import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Logger, pino } from 'pino';
import { createAdmission } from './engine/admission.ts';
import { createAgents } from './engine/agents.ts';
import { createConversations } from './engine/conversations.ts';
import { createDispatcher } from './engine/dispatcher.ts';
import { createHub } from './engine/hub.ts';
import { createInProgress } from './engine/in-progress.ts';
import { createLog } from './engine/log.ts';
import { requeueOrphans } from './engine/orphans.ts';
import { createQuestions } from './engine/questions.ts';
import { createStreams } from './engine/streams.ts';
import { createSweeper } from './engine/sweeper.ts';
import { createTasks } from './engine/tasks.ts';
import { failpoint } from './failpoint.ts';
import { createApp } from './http/app.ts';
import { eventOperations } from './http/events.ts';
import type { Readiness } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createOpenStreams } from './http/open-streams.ts';
import { listen } from './http/server.ts';
import type { Store } from './store/store.ts';
import { createPool, type PoolOptions } from './worker/pool.ts';

export interface ServerOptions {
  store: Store;
  /** `file:` URLs. */
  agentModules: string[];
  host?: string;
  port?: number;
  workers?: number;
  /** How long the code of a waiting task is kept in memory; 0 keeps none. */
  warmMs?: number;
  /** How much memory each thread that runs agents may hold, heap and Buffers together, in MiB. */
  workerMemoryMb?: number;
  /** Null keeps the events of ended tasks for ever. */
  retentionMs?: number | null;
  logger?: Logger;
}

export interface Server {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Ends streams with `bye drain`, lets running tasks come to rest for a few seconds, gives back the others, and closes the store. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 4747;
const LEAST_WORKERS = 2;
/** How long tasks may run on before the process goes. */
const DRAIN_MS = 3000;
/** How long it may take to give back those that did not come to rest. */
const GIVE_BACK_MS = 2000;
/** Without authentication there is one owner. */
const OWNER = 'local';

/** Builds the service over a store and begins to listen. Whoever opened the store closes it if this fails. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { store, agentModules, host = '127.0.0.1', port = DEFAULT_PORT, warmMs, retentionMs = null } = options;
  const size = Math.max(LEAST_WORKERS, options.workers ?? availableParallelism());
  const logger = options.logger ?? pino({ level: 'silent' });
  const stop = new AbortController();
  // Every request that waits listens for it.
  setMaxListeners(0, stop.signal);

  const hub = createHub();
  const dispatcher = createDispatcher({ store, warmMs, onTrouble: onCopyTrouble, onFatal: fatal });
  const sweeper = createSweeper({ store, retentionMs, onFatal: fatal });
  const listeners = [hub.onCommitted, dispatcher.onCommitted, sweeper.onCommitted];
  const log = createLog({ store, listeners, follow: dispatcher.follow, onFatal: fatal });
  const { onReports } = dispatcher;
  const pool = await createPool({
    size,
    agentModules,
    memoryMb: options.workerMemoryMb,
    onReports,
    onFailed,
    onLost,
    onThrown,
  });
  const inProgress = createInProgress(store);
  const admission = createAdmission(pool, stop.signal);
  const tasks = createTasks({ store, log, hub, admission, inProgress, stopping: stop.signal });
  const onDeleted = sweeper.purgeSoon;
  const conversations = createConversations({ store, log, admission, inProgress, onDeleted });
  const questions = createQuestions({ store, log, inProgress });
  const streams = createStreams(store, hub, tasks, conversations, stop.signal);
  const metrics = createMetrics();
  const open = createOpenStreams((count) => metrics.streamsOpen.set(count));
  const owner = () => OWNER;
  const onStreamTrouble = (error: unknown) => logger.error({ err: error }, 'a stream could not be read');
  const app = createApp({
    tasks,
    questions,
    conversations,
    agents: createAgents(store),
    events: eventOperations({ streams, open, owner, onTrouble: onStreamTrouble }),
    owner,
    readiness,
    metrics,
    logger,
    version: packageVersion(),
  });

  function readiness(): Readiness {
    if (stop.signal.aborted) return 'draining';
    return pool.isHealthy() && isReadable(store) ? 'ready' : 'overloaded';
  }

  function onThrown(taskId: string, agent: string, stack: string): void {
    logger.info({ taskId, agent, stack }, 'an agent threw');
  }

  function onFailed(...[taskId, fence, error, stack, cut]: Parameters<PoolOptions['onFailed']>): void {
    logger.info({ taskId, stack }, 'an agent threw where nobody catches it');
    dispatcher.onFailed(taskId, fence, error, stack, cut);
  }

  function onLost(...[lost, cause]: Parameters<PoolOptions['onLost']>): void {
    const { copies, culprit, error } = lost;
    const details = { code: error.code, copies: copies.length, culprit: culprit?.taskId ?? null };
    logger.error({ ...details, err: cause }, 'a worker was lost');
    dispatcher.onLost(lost, cause);
  }

  function onCopyTrouble(taskId: string, why: string): void {
    logger.error({ taskId, why }, 'what a task reported was refused');
  }

  /** What cannot be written can no longer be told truly: the process ends, having published nothing of it. */
  function fatal(error: unknown): void {
    logger.fatal({ err: error }, 'the process cannot go on');
    process.exit(1);
  }

  try {
    await store.describeAgents(pool.agents);
    await requeueOrphans(store, log);
    failpoint?.('requeued-not-listening');
    const http = await listen(app, { host, port, logger });
    failpoint?.('listening-not-claiming');
    dispatcher.start(log, pool);
    sweeper.start(log);
    return {
      url: http.url,
      async close() {
        stop.abort();
        failpoint?.('drain-begun');
        sweeper.stop();
        open.close('drain');
        await Promise.all([http.close(), dispatcher.drain(DRAIN_MS)]);
        failpoint?.('drained-not-given-back');
        await pool.stop();
        await dispatcher.stop(GIVE_BACK_MS);
        failpoint?.('given-back-not-closed');
        await store.close();
      },
    };
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

function isReadable(store: Store): boolean {
  try {
    store.nextDueAt();
    return true;
  } catch {
    return false;
  }
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return version;
}
