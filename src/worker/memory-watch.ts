/** What is known of a thread's memory. */
export interface WatchedThread {
  /** What it said that it holds when it answered last. */
  readonly bytes: number;
  /** How often it has answered. */
  readonly answers: number;
}

/** So long after a thread has ended its memory may still be given back. */
const GIVING_BACK_MS = 3000;

/**
 * Tells how much threads may have taken since they answered last, from what the whole process holds: a thread in a loop
 * cannot say, and no other thread can measure it.
 */
export class MemoryWatch {
  #marks = new WeakMap<WatchedThread, { answers: number; rest: number }>();
  #givenBackAt = 0;

  /**
   * @param processBytes what the process holds, but for the main thread's heap
   * @returns by thread, by how much the memory that none of them speaks of has grown since it answered last
   */
  look(now: number, processBytes: number, threads: readonly WatchedThread[]): Map<WatchedThread, number> {
    const rest = threads.reduce((left, { bytes }) => left - bytes, processBytes);
    return new Map(threads.map((thread) => [thread, rest - this.#mark(now, thread, rest)]));
  }

  /** A thread has ended, and what it had held counts as nobody's, less and less as it is given back. */
  threadEnded(now: number): void {
    this.#marks = new WeakMap();
    this.#givenBackAt = now + GIVING_BACK_MS;
  }

  /** What was left when it had answered last. */
  #mark(now: number, thread: WatchedThread, rest: number): number {
    const { answers } = thread;
    const mark = this.#marks.get(thread);
    const isOld = mark?.answers === answers;
    if (isOld && now >= this.#givenBackAt) return mark.rest;
    // What grows meanwhile is another's: it must be seen though the dead thread's memory is still there.
    const least = isOld ? Math.min(mark.rest, rest) : rest;
    this.#marks.set(thread, { answers, rest: least });
    return least;
  }
}
