import type { VerbCall } from '../model/batch.ts';
import type { Lease } from '../model/fence.ts';
import type { Cut } from '../model/journal.ts';
import { type TaskError, taskError } from '../model/task-error.ts';
import type { Copies } from './copies.ts';
import type { Copy } from './copy.ts';
import type { Releases } from './releases.ts';

/** Takes tasks from copies that are gone, or can go no further: each behind all that its copy has reported. */
export interface Taking {
  /** The task of a copy that is gone goes on from its journal, in another. */
  requeue(copy: Copy, cause: 'worker_lost' | 'drained'): void;
  /** The attempt of a copy that is gone has failed, whatever it may have said. */
  fail(copy: Copy, error: TaskError): void;
  /**
   * The attempt of a copy has failed, and it is told to stop; what runs of it until then holds the task.
   *
   * @param back where its journal is taken back to; null keeps it whole
   */
  cut(copy: Copy, error: TaskError, back: Cut | null): void;
  /** A copy can go no further, and its task goes on from its journal, in another. */
  giveBack(copy: Copy): void;
}

export interface TakingOptions {
  copies: Pick<Copies, 'lose'>;
  releases: Pick<Releases, 'add'>;
  /** Tells a copy to go. */
  drop(lease: Lease): void;
  write(copy: Copy, calls: readonly VerbCall[]): void;
}

export function createTaking({ copies, releases, drop, write }: TakingOptions): Taking {
  function take(copy: Copy, calls: readonly VerbCall[]): void {
    copies.lose(copy);
    write(copy, calls);
  }

  function requeue(copy: Copy, cause: 'worker_lost' | 'drained'): void {
    const isHeld = copy.status === 'running';
    // Who ends the task before it is requeued leaves it held.
    take(copy, isHeld ? [{ verb: 'requeueTask', args: { ...leaseOf(copy), cause } }, releaseOf(copy)] : []);
  }

  return {
    requeue,
    fail(copy, error) {
      if (copy.status === 'lost') return;
      const how = { error, cut: null, when: 'now', jitter: Math.random() } as const;
      take(copy, [{ verb: 'failTask', args: { ...leaseOf(copy), ...how } }, releaseOf(copy)]);
    },
    cut(copy, error, back) {
      if (copy.status === 'lost') return;
      const how = { error, cut: back, when: 'cut', jitter: Math.random() } as const;
      const isHeld = copy.status === 'running';
      take(copy, [{ verb: 'failTask', args: { ...leaseOf(copy), ...how } }]);
      if (isHeld) releases.add(copy);
      drop(leaseOf(copy));
    },
    giveBack(copy) {
      requeue(copy, 'worker_lost');
      drop(leaseOf(copy));
    },
  };
}

/** Stopped by what the server would not write. */
export const REFUSED: TaskError = taskError('agent_error', 'The server refused what the task reported.');

export function leaseOf({ taskId, fence }: Lease): Lease {
  return { taskId, fence };
}

/** Of a task that is still held though it runs no more; of any other it does nothing. */
export function releaseOf(lease: Lease): VerbCall {
  return { verb: 'releaseTask', args: leaseOf(lease) };
}
