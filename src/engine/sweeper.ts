import { failpoint } from '../failpoint.ts';
import type { VerbCall } from '../model/batch.ts';
import { taskError } from '../model/task-error.ts';
import type { DueItem, Store } from '../store/store.ts';
import { createDueTimes } from './due-times.ts';
import { groupBy } from './group-by.ts';
import type { CommitListener, Log } from './log.ts';
import { unlessFull } from './refusal.ts';

/**
 * Makes happen what falls due when nobody writes: questions expire, sleeps end, delayed tasks become ready,
 * running time is used up, old events are pruned. It only proposes; the store's clock decides in the transaction.
 */
export interface Sweeper {
  readonly onCommitted: CommitListener;
  /** One turn: everything that is due now. */
  tick(log: Log): Promise<void>;
  /** There is something to purge: looks at once, not only when the next thing is due. */
  purgeSoon(): void;
  /** Other processes may have written what falls due. */
  lookSoon(): void;
  start(log: Log): void;
  stop(): void;
}

const AT_ONCE = 200;
const PRUNE_EVERY_MS = 60_000;
const PRUNED_AT_ONCE = 50;
/** A slice of each: what is left for the next time holds up nothing that is due. */
const PURGED_AT_ONCE = 20;
const PURGE_EVERY_MS = 50;
const NEVER = Number.POSITIVE_INFINITY;
/** After trouble with the storage. */
const RETRY_MS = 1000;
/** What others have written is looked at together; what falls due by it, the others may make happen themselves first. */
const OTHERS_MS = 50;

export interface SweeperOptions {
  store: Store;
  /** Events of a tree are kept so long after its end; null keeps them for ever. */
  retentionMs: number | null;
  /**
   * Whether this process is the one of several that looks for what any of them has written. Each makes happen what falls
   * due by its own commits. Default: it is the only one.
   */
  isOnDuty?: (() => boolean) | null;
  /** Called with what is no want of space: a bug. */
  onFatal(error: unknown): void;
}

export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, retentionMs, isOnDuty = null, onFatal } = options;
  /** What this process has written itself, where there are others. */
  const own = createDueTimes();
  let timer: NodeJS.Timeout | null = null;
  let armedFor = Number.POSITIVE_INFINITY;
  let running: Log | null = null;
  let ticking = false;
  /** When to look next for what can be pruned. */
  let pruneAt = Number.NEGATIVE_INFINITY;
  /** When to look next for what deleted conversations have left. */
  let purgeAt = NEVER;

  async function tick(log: Log): Promise<void> {
    for (let full = true; full; ) {
      const due = await store.due(AT_ONCE);
      if (due.length > 0) failpoint?.('due-not-fired');
      await Promise.all(due.map((item) => log.commit(item.owner, [callOf(item)])));
      if (due.length > 0) failpoint?.('fired-not-armed');
      full = due.length === AT_ONCE;
    }
    if (isOnDuty?.() === false) return;
    await purge(log);
    if (retentionMs !== null && store.now() >= pruneAt) await prune(log, retentionMs);
  }

  /** Takes a slice of each deleted conversation. */
  async function purge(log: Log): Promise<void> {
    const deleted = await store.purgeable(PURGED_AT_ONCE);
    await Promise.all(
      deleted.map(({ owner, conversationId }) =>
        log.commit(owner, [{ verb: 'purgeConversation', args: { conversationId } }]),
      ),
    );
    purgeAt = deleted.length === 0 ? NEVER : store.now() + PURGE_EVERY_MS;
  }

  /** Takes a few, so that a backlog of them holds up nothing that is due. */
  async function prune(log: Log, retention: number): Promise<void> {
    const roots = await store.prunable(retention, PRUNED_AT_ONCE);
    for (const [owner, own] of groupBy(roots, (root) => root.owner)) {
      const calls = own.map(({ taskId }): VerbCall => {
        return { verb: 'pruneTask', args: { rootId: taskId, retentionMs: retention } };
      });
      failpoint?.('prune-not-asked');
      await log.commit(owner, calls);
    }
    pruneAt = store.now() + (roots.length === PRUNED_AT_ONCE ? 0 : PRUNE_EVERY_MS);
  }

  /** Sleeps to the nearest deadline, and never so long that a timer would overflow. */
  function arm(at: number): void {
    if (running === null || ticking || at >= armedFor) return;
    if (timer !== null) clearTimeout(timer);
    armedFor = at;
    timer = setTimeout(turn, Math.min(PRUNE_EVERY_MS, Math.max(0, at - store.now())));
    timer.unref();
  }

  function turn(): void {
    if (running !== null) turnOf(running).catch((error) => running !== null && onFatal(error));
  }

  /** What falls due during a turn is found at its end, when the next one is armed. */
  async function turnOf(log: Log): Promise<void> {
    armedFor = Number.POSITIVE_INFINITY;
    ticking = true;
    const hasPassed = own.pass(store.now());
    const done = await tick(log).then(() => true, unlessFull);
    // Before it is seen what is next: what that look comes too early for arms the next turn itself.
    ticking = false;
    const next = done === null ? null : await nextAt(hasPassed).catch(unlessFull);
    arm(next ?? store.now() + RETRY_MS);
  }

  /**
   * When to look next, as far as this process has to.
   *
   * @param hasPassed whether something of its own was due by this clock: by the store's it may be a little later
   */
  async function nextAt(hasPassed: boolean): Promise<number> {
    const mine = Math.min(own.next() ?? NEVER, hasPassed ? store.now() + OTHERS_MS : NEVER);
    if (isOnDuty?.() === false) return mine;
    const dueAt = (await store.nextDueAt()) ?? NEVER;
    const any = isOnDuty === null ? dueAt : Math.min(mine, Math.max(dueAt, store.now()) + OTHERS_MS);
    return Math.min(any, retentionMs === null ? NEVER : pruneAt, purgeAt);
  }

  return {
    tick,
    purgeSoon: () => arm(store.now()),
    lookSoon() {
      if (isOnDuty?.() === true) arm(store.now() + OTHERS_MS);
    },
    onCommitted(_owner, _calls, { dueAt }) {
      if (dueAt === null) return;
      if (isOnDuty !== null) own.add(dueAt);
      arm(dueAt);
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
    case 'ready':
      return { verb: 'readyTask', args: { taskId: item.taskId } };
    case 'deadline': {
      const { taskId, fence, timeoutMs } = item;
      const error = taskError('timeout', `The task ran for its ${timeoutMs} ms without coming to an end.`);
      const args = { taskId, fence, error, cut: null, when: 'deadline', jitter: Math.random() } as const;
      return { verb: 'failTask', args };
    }
  }
}
