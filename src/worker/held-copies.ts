import type { Lease } from '../model/fence.ts';
import type { Command, Report } from './protocol.ts';

/** A copy as the main thread knows it. `endedWith`: the number of its last report, until that is acknowledged. */
interface HeldCopy {
  index: number;
  fence: number;
  endedWith: number | null;
}

/** A copy that was dropped and may still run. Since when: ms of a clock of any kind. */
interface LeavingCopy extends Lease {
  since: number;
}

/** What does not stop costs its slot no longer than this: a little less than the engine waits before it claims the next. */
const LEAVING_LIMIT_MS = 9000;

/** Which copies of tasks a thread holds, as far as the commands and reports that pass by tell. */
export class HeldCopies {
  readonly #copies = new Map<string, HeldCopy>();
  readonly #running = new Set<string>();
  /** By task and fence. */
  readonly #leaving = new Map<string, LeavingCopy>();
  #count = 0;

  has(taskId: string): boolean {
    return this.#copies.has(taskId);
  }

  get isEmpty(): boolean {
    return this.#copies.size === 0 && this.#leaving.size === 0;
  }

  /** How many run, and for a while those that were told to stop and have not. */
  occupied(now: number): number {
    const stopping = [...this.#leaving.values()].filter(({ since }) => now - since < LEAVING_LIMIT_MS);
    return this.#running.size + stopping.length;
  }

  /** Those that are lost when their thread is: all whose end has not been reported. */
  unfinished(): Lease[] {
    return [...this.#copies].flatMap(([taskId, { fence, endedWith }]) => (endedWith === null ? { taskId, fence } : []));
  }

  /** Those that were dropped and may still run. */
  leaving(): Lease[] {
    return [...this.#leaving.values()].map(({ taskId, fence }) => ({ taskId, fence }));
  }

  /** The unfinished copy with this index. */
  byIndex(wanted: number): Lease | null {
    const found = [...this.#copies].find(([, { index }]) => index === wanted);
    if (found === undefined) return null;
    const [taskId, { fence, endedWith }] = found;
    return endedWith === null ? { taskId, fence } : null;
  }

  /** The unfinished copy that the thread has held, when it has never held another. */
  only(): Lease | null {
    return this.#count === 1 ? this.byIndex(1) : null;
  }

  /** @returns the index by which the thread will know the copy: 1, 2, 3 … */
  start({ taskId, fence }: Lease): number {
    this.#count++;
    this.#copies.set(taskId, { index: this.#count, fence, endedWith: null });
    this.#running.add(taskId);
    return this.#count;
  }

  /** Learns from a command to the thread. */
  commanded(command: Exclude<Command, { kind: 'start' }>, now: number): void {
    switch (command.kind) {
      case 'adopt': {
        const copy = this.#copies.get(command.taskId);
        if (copy === undefined) return;
        copy.fence = command.fence;
        this.#running.add(command.taskId);
        return;
      }
      case 'waited':
        if (command.answer === 'waiting' && this.#find(command) !== null) this.#running.delete(command.taskId);
        return;
      case 'ack': {
        const endedWith = this.#find(command)?.endedWith ?? null;
        if (endedWith !== null && command.n >= endedWith) this.#copies.delete(command.taskId);
        return;
      }
      case 'drop':
        this.#dropped(command, now);
    }
  }

  /** Learns from a report of the thread's. */
  reported(report: Report): void {
    if (report.kind === 'released') this.#leaving.delete(idOf(report));
    if (report.kind !== 'end') return;
    const copy = this.#find(report);
    if (copy === null) return;
    copy.endedWith = report.n;
    this.#running.delete(report.taskId);
  }

  #dropped({ taskId, fence }: Lease, now: number): void {
    if (this.#find({ taskId, fence }) === null) return;
    this.#copies.delete(taskId);
    this.#running.delete(taskId);
    this.#leaving.set(idOf({ taskId, fence }), { taskId, fence, since: now });
  }

  #find({ taskId, fence }: Lease): HeldCopy | null {
    const copy = this.#copies.get(taskId);
    return copy?.fence === fence ? copy : null;
  }
}

function idOf({ taskId, fence }: Lease): string {
  return `${taskId} ${fence}`;
}
