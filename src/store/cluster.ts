import type { KeyResolution } from '../model/journal.ts';
import type { TaskStatus } from '../model/task.ts';
import type { HeldTask, Store } from './store.ts';

/**
 * Several processes on one database: which of them live, by the database's clock, and what each has to learn of the others.
 *
 * @see docs/decisions/008-fence-every-write.md
 */
export interface Cluster {
  /** How long a process that is not heard of counts as living. */
  readonly leaseMs: number;
  /**
   * Tells that this process lives, with {@link Store.node} as its name, which is another one from then on if the database has
   * taken it for dead: what it held is not its own any more.
   *
   * @returns its name, and the tasks that are held under it
   */
  renew(): Promise<{ node: string; held: HeldTask[] }>;
  /** Takes for dead who has not renewed its lease in time. @returns how many */
  buryDead(): Promise<number>;
  /** Whether this process, of all that live, is the one that is to do this for a while: it asks again before that is over. */
  takeDuty(duty: Duty): Promise<boolean>;
  /** The heads of the logs of these owners; without those who have none. */
  heads(owners: readonly string[]): Promise<Map<string, number>>;
  /** Where tasks of one owner stand whose code this process has in memory, and what they may not have been told. */
  copies(owner: string, known: readonly KnownCopy[]): Promise<CopyState[]>;
}

/** What is done once, whoever does it. */
export type Duty = 'sweep';

/** A copy in a worker: its task, and the newest place of a resolution that it was told of. */
export interface KnownCopy {
  taskId: string;
  ord: number;
}

/** Of one instant. Of a task that is not there any more there is none. */
export interface CopyState {
  taskId: string;
  fence: number;
  status: TaskStatus;
  /** The task's newest place; `resolutions` reach up to it. */
  ord: number;
  /** Those above what the copy was told of, ascending. */
  resolutions: KeyResolution[];
}
