import { createDispatcher, type Dispatcher } from '../../../src/engine/dispatcher.ts';
import { createHub, type Hub } from '../../../src/engine/hub.ts';
import { type CommitListener, createLog, type Log } from '../../../src/engine/log.ts';
import { createNode, type ServerNode } from '../../../src/engine/node.ts';
import { createSweeper } from '../../../src/engine/sweeper.ts';
import type { Store } from '../../../src/store/store.ts';
import { createPool, type Pool } from '../../../src/worker/pool.ts';
import { Owner } from '../../support/store-owner.ts';

/** The engine of one node of several, put together as a server is. */
export interface EngineNode {
  readonly store: Store;
  readonly hub: Hub;
  readonly log: Log;
  readonly dispatcher: Dispatcher;
  readonly node: ServerNode;
  /** Does as requests to this node would. */
  readonly ann: Owner;
  /** As the process ends that is asked to: what it runs is given back. */
  stop(): Promise<void>;
  /** As the process is killed: nothing is given back. The store is left alone. */
  die(): Promise<void>;
}

export interface EngineOptions {
  /** Default: a thread with the agents of the tests. */
  pool?: Pool;
  warmMs?: number;
  /** Told of the commits of this node. */
  onCommitted?: CommitListener;
  owner?: string;
}

const AGENTS = new URL('../dispatcher-agents.ts', import.meta.url).href;

export async function startEngine(store: Store, options: EngineOptions = {}): Promise<EngineNode> {
  const { cluster } = store;
  if (cluster === null) throw new Error('A node of several needs a store that several can share.');
  const onFatal = (error: unknown) => {
    throw error;
  };
  const node = createNode({ store, cluster, onFatal });
  const hub = createHub({ isShared: true });
  const dispatcher = createDispatcher({
    ...{ store, neighbours: node, warmMs: options.warmMs, onFatal },
    onTrouble: (_taskId, why) => onFatal(new Error(why)),
  });
  const sweeper = createSweeper({ store, retentionMs: null, isOnDuty: node.isOnDuty, onFatal });
  const listeners = [hub.onCommitted, dispatcher.onCommitted, sweeper.onCommitted, node.onCommitted];
  if (options.onCommitted !== undefined) listeners.push(options.onCommitted);
  const log = node.watch(createLog({ store, listeners, follow: dispatcher.follow, onFatal }));
  const { onReports, onLost, onFailed } = dispatcher;
  const pool = options.pool ?? (await createPool({ size: 1, agentModules: [AGENTS], onReports, onLost, onFailed }));
  store.watch({ onFailed: onFatal, onLogHeld() {}, onForeign: node.onForeign });
  await store.describeAgents(pool.agents);
  await node.start({ hub, dispatcher, sweeper, log });
  dispatcher.start(log, pool);
  sweeper.start(log);

  return {
    ...{ store, hub, log, dispatcher, node },
    ann: new Owner({ ...store, commit: log.commit }, options.owner ?? 'ann'),
    async stop() {
      sweeper.stop();
      await dispatcher.drain(0);
      await pool.stop();
      await dispatcher.stop(1000);
      node.stop();
      await store.close();
    },
    async die() {
      sweeper.stop();
      node.stop();
      await pool.stop();
      await dispatcher.drain(0);
    },
  };
}
