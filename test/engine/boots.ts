import { vi } from 'vitest';
import { createDispatcher } from '../../src/engine/dispatcher.ts';
import { createLog } from '../../src/engine/log.ts';
import { requeueOrphans } from '../../src/engine/orphans.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { Pool } from '../../src/worker/pool.ts';
import type { Command } from '../../src/worker/protocol.ts';
import { createArgs } from '../support/store-owner.ts';
import { turn } from './published-store.ts';

/** Nothing happens more often than the quarantine looks. */
const STEP_MS = 1000;
const SLOTS = 1000;

/** A server that dies and comes up again over one store, with a clock of its own. Its tasks do nothing, but for one. */
export class Boots {
  now = Date.UTC(2026, 10, 30);
  readonly store: Store = openSqliteStoreInProcess({ dir: ':memory:', now: () => this.now });
  /** The task with which the process dies, and how long after its start. */
  poison: { taskId: string; afterMs: number } | null = null;

  async create(count: number): Promise<string[]> {
    const args = Array.from({ length: count }, () => createArgs({ agent: 'idle' }));
    await this.store.commit(
      'ann',
      args.map((each) => ({ verb: 'createTask', args: each }) as const),
    );
    return args.map(({ taskId }) => taskId);
  }

  /** Starts the server, and lets it run until the poison kills it or `ms` are over. @returns whether it was the poison */
  async run(ms: number, end: 'kill' | 'stop' = 'kill'): Promise<boolean> {
    const dieAt: number[] = [];
    const pool = idlePool((taskId) => {
      if (taskId === this.poison?.taskId) dieAt.push(this.now + this.poison.afterMs);
    });
    const onFatal = (error: unknown) => {
      throw error;
    };
    const dispatcher = createDispatcher({ store: this.store, onTrouble: () => {}, onFatal });
    const log = createLog({
      store: this.store,
      listeners: [dispatcher.onCommitted],
      follow: dispatcher.follow,
      onFatal,
    });
    await requeueOrphans(this.store, log);
    dispatcher.start(log, pool);
    const endAt = this.now + ms;
    await this.#moveTo(this.now);
    while (this.now < endAt && !dieAt.some((at) => this.now >= at)) {
      await this.#moveTo(Math.min(this.now + STEP_MS, endAt, ...dieAt));
    }
    const drained = dispatcher.drain(0);
    vi.advanceTimersByTime(1);
    await drained;
    if (end === 'stop') await dispatcher.stop(1000);
    return dieAt.some((at) => this.now >= at);
  }

  async failed(taskIds: readonly string[]): Promise<string[]> {
    const failed = await this.store.listTasks('ann', { status: ['failed'], limit: 1000, order: 'asc' });
    return failed.map(({ id }) => id).filter((id) => taskIds.includes(id));
  }

  async #moveTo(at: number): Promise<void> {
    const ms = at - this.now;
    this.now = at;
    vi.advanceTimersByTime(ms);
    // A claim is made in the turn after the look, and told in the next.
    for (let n = 0; n < 3; n++) await turn();
  }
}

function idlePool(onStart: (taskId: string) => void): Pool {
  let running = 0;
  return {
    agents: [],
    freeSlots: () => SLOTS - running,
    isHealthy: () => true,
    send(command: Command) {
      if (command.kind !== 'start') return;
      running += 1;
      onStart(command.taskId);
    },
    validate: async () => null,
    retire() {},
    async stop() {},
  };
}
