import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { createAccess } from './access/access.ts';
import { createJwtVerifier } from './access/jwt.ts';
import { createAdmission } from './engine/admission.ts';
import { createAgents } from './engine/agents.ts';
import { watchBacklog } from './engine/backlog.ts';
import { createConversations } from './engine/conversations.ts';
import { createDispatcher } from './engine/dispatcher.ts';
import { createHub } from './engine/hub.ts';
import { createInProgress } from './engine/in-progress.ts';
import { createLog } from './engine/log.ts';
import { createNode } from './engine/node.ts';
import { requeueOrphans } from './engine/orphans.ts';
import { createQuestions } from './engine/questions.ts';
import { createStreams } from './engine/streams.ts';
import { createSweeper } from './engine/sweeper.ts';
import { createTasks } from './engine/tasks.ts';
import { failpoint } from './failpoint.ts';
import { isLoopback } from './http/allowed-host.ts';
import { createApp } from './http/app.ts';
import { conversationOperations } from './http/conversations.ts';
import { createEarlyRefusal } from './http/early-refusal.ts';
import { eventOperations } from './http/events.ts';
import type { Readiness } from './http/health.ts';
import { createLimits } from './http/limits.ts';
import { createMetrics } from './http/metrics.ts';
import { createOpenStreams } from './http/open-streams.ts';
import { listen } from './http/server.ts';
import { taskOperations } from './http/tasks.ts';
import type { AccessMode } from './model/access.ts';
import type { ServingOptions } from './serving-options.ts';
import type { AccessStore } from './store/access.ts';
import { type Store, StoreError } from './store/store.ts';
import { createPool, type PoolOptions } from './worker/pool.ts';

export interface ServerOptions extends Omit<ServingOptions, 'agents'> {
  store: Store;
  accessStore: AccessStore;
  /** `file:` URLs. */
  agentModules: string[];
}

export interface Server {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /**
   * Ends streams with `bye drain`, lets running tasks come to rest for a few seconds, gives back the others, and closes the
   * store. Again gives the same promise.
   *
   * @param listenMs how long the port stays open at least, for others to see at `/readyz` that the server goes. Default 0,
   *   or two seconds where somebody has asked there within the last minute
   */
  close(listenMs?: number): Promise<void>;
}

const DEFAULT_PORT = 4747;
const LEAST_WORKERS = 2;
/** How long tasks may run on before the process goes. */
const DRAIN_MS = 3000;
/** How long requests under way may take once the port is closed. */
const HTTP_GRACE_MS = 2000;
/** Who asks whether the server is ready, as load balancers do, is given so long to ask once more and turn to another. */
const NOTICE_MS = 2000;
const ASKED_WITHIN_MS = 60_000;
/** How long it may take to give back those that did not come to rest. */
const GIVE_BACK_MS = 2000;

/** Builds the service over its stores and begins to listen. Whoever opened them closes them if this fails. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { store, agentModules, host = '127.0.0.1', port = DEFAULT_PORT, warmMs, retentionMs = null } = options;
  const { auth = 'none', allowHosts = [], allowOrigins = [] } = options;
  refuseStrangers(auth, host);
  const size = Math.max(LEAST_WORKERS, options.workers ?? availableParallelism());
  const logger = options.logger ?? pino({ level: 'silent' });
  const stop = new AbortController();
  // Every request that waits listens for it.
  setMaxListeners(0, stop.signal);

  const { cluster } = store;
  const node = cluster === null ? null : createNode({ store, cluster, onFatal: fatal });
  const hub = createHub({ isShared: node !== null });
  const { maxUnfinishedPerOwner: maxUnfinished } = options;
  const dispatcher = createDispatcher({
    store,
    warmMs,
    maxRunningPerOwner: options.maxRunningPerOwner ?? undefined,
    maxPendingPerOwner: maxUnfinished,
    neighbours: node,
    onTrouble: onCopyTrouble,
    onFatal: fatal,
  });
  const sweeper = createSweeper({ store, retentionMs, isOnDuty: node?.isOnDuty ?? null, onFatal: fatal });
  const listeners = [hub.onCommitted, dispatcher.onCommitted, sweeper.onCommitted];
  if (node !== null) listeners.push(node.onCommitted);
  const ownLog = createLog({ store, listeners, follow: dispatcher.follow, onFatal: fatal });
  const { log, backlog } = watchBacklog(node?.watch(ownLog) ?? ownLog);
  const { onReports } = dispatcher;
  const pool = await createPool({
    size,
    agentModules,
    agentEnv: options.agentEnv,
    memoryMb: options.workerMemoryMb,
    onReports,
    onFailed,
    onLost,
    onThrown,
  });
  const inProgress = createInProgress(store);
  const admission = createAdmission(pool, stop.signal);
  const tasks = createTasks({ store, log, hub, admission, inProgress, maxUnfinished, stopping: stop.signal });
  const onDeleted = sweeper.purgeSoon;
  const conversations = createConversations({ store, log, admission, inProgress, maxUnfinished, onDeleted });
  const questions = createQuestions({ store, log, inProgress });
  const streams = createStreams(store, hub, tasks, conversations, stop.signal);
  const metrics = createMetrics();
  const limits = createLimits({ ...options, auth, counts: options.accessStore.counts }, backlog, metrics);
  const { shedding, held } = limits;
  const open = createOpenStreams((count) => metrics.streamsOpen.set(count));
  const access = createAccess({
    mode: auth,
    store: options.accessStore,
    verifyJwt: options.jwt === undefined ? null : createJwtVerifier(options.jwt),
    onTrouble(error) {
      if (error instanceof StoreError && error.code === 'storage_failed') fatal(error);
      logger.error({ err: error }, 'who comes in could not be read or written down');
    },
  });
  const onStreamTrouble = (error: unknown) => logger.error({ err: error }, 'a stream could not be read');
  const app = createApp({
    tasks: { ...tasks, create: shedding.counted(tasks.create), retry: shedding.counted(tasks.retry) },
    questions,
    conversations: {
      ...conversations,
      create: shedding.counted(conversations.create),
      post: shedding.counted(conversations.post),
    },
    agents: createAgents(store),
    events: eventOperations({ streams, open, held, hold: access.hold, onTrouble: onStreamTrouble }),
    access,
    // With authentication there is nothing that a page which borrows a name gets: its browser has no cookie for that.
    hosts: auth === 'none' || allowHosts.length > 0 ? allowHosts : null,
    origins: allowOrigins,
    limits,
    readiness,
    metrics,
    logger,
    version: packageVersion(),
  });

  const newWork = [...taskOperations(tasks, held), ...conversationOperations(conversations)];
  const refuseEarly = createEarlyRefusal(newWork, shedding);

  let readinessAskedAt = -Infinity;
  async function readiness(): Promise<Readiness> {
    readinessAskedAt = performance.now();
    const storage = await readinessOf(store);
    if (stop.signal.aborted) return 'draining';
    return pool.isHealthy() && !shedding.isOverloaded ? storage : 'overloaded';
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

  store.watch({
    onFailed: fatal,
    onLogHeld: (bytes) => logger.warn({ walBytes: bytes }, 'another process keeps the database from taking in its WAL'),
    onForeign: node?.onForeign ?? (() => {}),
  });
  try {
    await store.describeAgents(pool.agents);
    if (node === null) await requeueOrphans(store, log);
    else await node.start({ hub, dispatcher, sweeper, log });
    failpoint?.('requeued-not-listening');
    const http = await listen(app, { host, port, logger, metrics, refuseEarly, maxConnections: limits.maxConnections });
    failpoint?.('listening-not-claiming');
    dispatcher.start(log, pool);
    sweeper.start(log);
    shedding.start();
    let closed: Promise<void> | null = null;
    return {
      url: http.url,
      close(listenMs = 0) {
        closed ??= drain(listenMs);
        return closed;
      },
    };

    async function drain(listenMs: number): Promise<void> {
      const isWatched = performance.now() - readinessAskedAt < ASKED_WITHIN_MS;
      stop.abort();
      failpoint?.('drain-begun');
      sweeper.stop();
      shedding.stop();
      const noticed = delay(isWatched ? NOTICE_MS : listenMs);
      await Promise.all([open.close('drain'), noticed, dispatcher.drain(DRAIN_MS)]);
      await http.close(HTTP_GRACE_MS);
      failpoint?.('drained-not-given-back');
      await pool.stop();
      await dispatcher.stop(GIVE_BACK_MS);
      node?.stop();
      failpoint?.('given-back-not-closed');
      limits.requests.close();
      access.close();
      await options.accessStore.close();
      await store.close();
    }
  } catch (error) {
    access.close();
    node?.stop();
    await pool.stop();
    throw error;
  }
}

/** @throws Error when strangers could reach what anybody may do */
function refuseStrangers(auth: AccessMode, host: string): void {
  if (auth !== 'none' || isLoopback(host)) return;
  throw new Error(
    `Without authentication the server listens on the machine itself alone, and ${host} is for others, too. ` +
      'Make a token with `holdfast tokens create` and add --auth token, or leave out --host.',
  );
}

/** Whether the store can be read. */
async function readinessOf(store: Store): Promise<Readiness> {
  try {
    await store.nextDueAt();
    return 'ready';
  } catch (error) {
    return error instanceof StoreError && error.code === 'storage_unavailable' ? error.code : 'overloaded';
  }
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return version;
}
