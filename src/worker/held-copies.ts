import type { Command, Report } from './protocol.ts';

/** A copy as the main thread knows it. `endedWith`: the number of its last report, until that is acknowledged. */
interface HeldCopy {
  fence: number;
  endedWith: number | null;
}

/** Which copies of tasks a thread holds, as far as the commands and reports that pass by tell. */
export class HeldCopies {
  readonly #copies = new Map<string, HeldCopy>();
  readonly #running = new Set<string>();

  get runningCount(): number {
    return this.#running.size;
  }

  has(taskId: string): boolean {
    return this.#copies.has(taskId);
  }

  /** Those that are lost when their thread is: all whose end has not been reported. */
  unfinished(): { taskId: string; fence: number }[] {
    return [...this.#copies].flatMap(([taskId, { fence, endedWith }]) => (endedWith === null ? { taskId, fence } : []));
  }

  /** Learns from a command to the thread. */
  commanded(command: Command): void {
    switch (command.kind) {
      case 'start':
      case 'adopt':
        this.#copies.set(command.taskId, { fence: command.fence, endedWith: null });
        this.#running.add(command.taskId);
        return;
      case 'waited':
        if (command.answer === 'waiting' && this.#find(command) !== null) this.#running.delete(command.taskId);
        return;
      case 'ack': {
        const endedWith = this.#find(command)?.endedWith ?? null;
        if (endedWith !== null && command.n >= endedWith) this.#copies.delete(command.taskId);
        return;
      }
      case 'drop':
        if (this.#find(command) === null) return;
        this.#copies.delete(command.taskId);
        this.#running.delete(command.taskId);
    }
  }

  /** Learns from a report of the thread's. */
  reported(report: Report): void {
    if (report.kind !== 'end') return;
    const copy = this.#find(report);
    if (copy === null) return;
    copy.endedWith = report.n;
    this.#running.delete(report.taskId);
  }

  #find({ taskId, fence }: { taskId: string; fence: number }): HeldCopy | null {
    const copy = this.#copies.get(taskId);
    return copy?.fence === fence ? copy : null;
  }
}
