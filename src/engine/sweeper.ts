import type { VerbCall } from '../model/batch.ts';
import { taskError } from '../model/task-error.ts';
import type { DueItem, Store } from '../store/store.ts';
import type { CommitListener, Log } from './log.ts';

/**
 * Makes happen what falls due when nobody writes: questions expire, sleeps end, running time is used up, old events are
 * pruned. It only proposes; the store's clock decides in the transaction.
 */
export interface Sweeper {
  readonly onCommitted: CommitListener;
  /** One turn: everything that is due now. */
  tick(log: Log): Promise<void>;
  start(log: Log): void;
  stop(): void;
}

const AT_ONCE = 200;
const PRUNE_EVERY_MS = 60_000;
/** After trouble with the storage. */
const RETRY_MS = 1000;

/** @param retentionMs events of a tree are kept so long after its end; null keeps them for ever */
export function createSweeper(store: Store, retentionMs: number | null): Sweeper {
  let timer: NodeJS.Timeout | null = null;
  let armedFor = Number.POSITIVE_INFINITY;
  let running: Log | null = null;
  let prunedAt = Number.NEGATIVE_INFINITY;

  async function tick(log: Log): Promise<void> {
    for (;;) {
      const due = store.due(store.now(), AT_ONCE);
      for (const item of due) await log.commit(item.owner, [callOf(item)]);
      if (due.length < AT_ONCE) break;
    }
    if (retentionMs !== null && store.now() - prunedAt >= PRUNE_EVERY_MS) await prune(log, retentionMs);
  }

  async function prune(log: Log, retention: number): Promise<void> {
    prunedAt = store.now();
    for (;;) {
      const roots = store.prunable(store.now() - retention, AT_ONCE);
      for (const { owner, taskId } of roots) {
        await log.commit(owner, [{ verb: 'pruneTask', args: { rootId: taskId, retentionMs: retention } }]);
      }
      if (roots.length < AT_ONCE) return;
    }
  }

  /** Sleeps to the nearest deadline, and never so long that a timer would overflow. */
  function arm(at: number): void {
    if (running === null || at >= armedFor) return;
    if (timer !== null) clearTimeout(timer);
    armedFor = at;
    timer = setTimeout(turn, Math.min(PRUNE_EVERY_MS, Math.max(0, at - store.now())));
    timer.unref();
  }

  function turn(): void {
    const log = running;
    if (log === null) return;
    armedFor = Number.POSITIVE_INFINITY;
    tick(log).then(
      () => arm(store.nextDueAt() ?? store.now() + PRUNE_EVERY_MS),
      () => arm(store.now() + RETRY_MS),
    );
  }

  return {
    tick,
    onCommitted(_owner, _calls, { dueAt }) {
      if (dueAt !== null) arm(dueAt);
    },
    start(log) {
      running = log;
      turn();
    },
    stop() {
      running = null;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function callOf(item: DueItem): VerbCall {
  switch (item.kind) {
    case 'question':
      return { verb: 'expireQuestion', args: { questionId: item.questionId } };
    case 'timer':
      return { verb: 'fireTimer', args: { taskId: item.taskId, key: item.key } };
    case 'deadline': {
      const error = taskError('timeout', `The task ran for its ${item.timeoutMs} ms without coming to an end.`);
      return { verb: 'failTask', args: { taskId: item.taskId, fence: item.fence, error, when: 'deadline' } };
    }
  }
}
