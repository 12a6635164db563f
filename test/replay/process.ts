import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { createLog, type Log } from '../../src/engine/log.ts';
import { requeueOrphans } from '../../src/engine/orphans.ts';
import { createSweeper, type Sweeper } from '../../src/engine/sweeper.ts';
import type { Store } from '../../src/store/store.ts';
import { type GatedStore, gateStore } from './gated-store.ts';
import { InProcessPool, type InProcessWorker } from './in-process-pool.ts';

/** Everything that dies with a process: all but the store. */
export interface TestProcess {
  gate: GatedStore;
  dispatcher: Dispatcher;
  log: Log;
  pool: InProcessPool;
  sweeper: Sweeper;
  isAlive: boolean;
  /** Whether a turn of the sweeper is under way: there is one at a time. */
  isSweeping: boolean;
}

export interface ProcessOptions {
  workers: number;
  warmMs: number;
  hire(index: number): InProcessWorker;
  onTrouble(error: unknown): void;
}

/** Starts as the server does: what the process before has left is queued again, then tasks are claimed. */
export function startProcess(store: Store, options: ProcessOptions): TestProcess {
  const gate = gateStore(store);
  const onFatal = options.onTrouble;
  const dispatcher = createDispatcher({
    store: gate.store,
    warmMs: options.warmMs,
    onTrouble: (taskId, why) => options.onTrouble(`${taskId}: ${why}`),
    onFatal,
  });
  const sweeper = createSweeper({ store: gate.store, retentionMs: null, onFatal });
  const log = createLog({
    store: gate.store,
    listeners: [dispatcher.onCommitted],
    follow: dispatcher.follow,
    onFatal,
  });
  const pool = new InProcessPool(options.workers, options.hire);
  const process: TestProcess = { gate, dispatcher, log, pool, sweeper, isAlive: true, isSweeping: false };
  requeueOrphans(gate.store, log)
    .then(() => dispatcher.start(log, pool))
    .catch(onFatal);
  return process;
}
