import type { Store } from '../store/store.ts';
import type { Claims } from './claims.ts';
import type { Contest } from './contest.ts';
import type { Copies } from './copies.ts';
import type { CommitListener } from './log.ts';
import { unlessFull } from './refusal.ts';

/**
 * Leaves tasks that were woken here to the node where their copies may wait in memory, for a moment: they go on there without
 * being replayed.
 *
 * @see docs/decisions/007-one-kind-of-waiting.md
 */
export interface WarmFirst {
  readonly onCommitted: CommitListener;
}

/** So long it takes for a node to hear of it, to read what it was, and to claim. */
const SPARED_MS = 40;

export interface WarmFirstOptions {
  store: Pick<Store, 'task' | 'node'>;
  copies: Pick<Copies, 'get'>;
  contest: Pick<Contest, 'spare' | 'want'>;
  claims: Pick<Claims, 'schedule'>;
  onFatal(error: unknown): void;
}

export function createWarmFirst({ store, copies, contest, claims, onFatal }: WarmFirstOptions): WarmFirst {
  /** One that ran here last is not warm: its copy would be here. */
  async function spare(owner: string, taskId: string): Promise<void> {
    contest.spare(taskId, SPARED_MS);
    setTimeout(claims.schedule, SPARED_MS + 1).unref();
    const task = await store.task(owner, taskId);
    if (task?.node !== store.node) return;
    contest.want(taskId);
    claims.schedule();
  }

  return {
    onCommitted(owner, _calls, { events }) {
      for (const { type, taskId } of events) {
        if (type !== 'task.resumed' || taskId === null || copies.get(taskId) !== undefined) continue;
        spare(owner, taskId).catch(unlessFull).catch(onFatal);
      }
    },
  };
}
