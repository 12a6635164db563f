const MAX_NOTES = 10_000;

/** Tasks that were in threads which ended by nobody knows whose doing. */
export class Suspicions {
  /** The oldest first. */
  readonly #deaths = new Map<string, number>();

  /** A thread has ended, and one of these did it. */
  note(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      const deaths = this.of(taskId) + 1;
      this.forget(taskId);
      this.#deaths.set(taskId, deaths);
    }
    for (const oldest of [...this.#deaths.keys()].slice(0, Math.max(0, this.#deaths.size - MAX_NOTES))) {
      this.forget(oldest);
    }
  }

  /** How many such threads the task was in. */
  of(taskId: string): number {
    return this.#deaths.get(taskId) ?? 0;
  }

  forget(taskId: string): void {
    this.#deaths.delete(taskId);
  }
}
