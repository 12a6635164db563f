import type { QuestionRecord } from '../../src/model/question.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { Store } from '../../src/store/store.ts';

const ALL = 100_000;

/** What the store has of one owner, as of the last look: nothing but a commit changes it, and each is followed by a look. */
export class Seen {
  /** Oldest first. */
  tasks: readonly TaskRecord[] = [];
  /** Oldest first. */
  questions: readonly QuestionRecord[] = [];
  /** When something falls due next, of any owner; null when nothing will. */
  dueAt: number | null = null;
  readonly #store: Store;
  readonly #owner: string;

  constructor(store: Store, owner: string) {
    this.#store = store;
    this.#owner = owner;
  }

  async look(): Promise<void> {
    const owner = this.#owner;
    [this.tasks, this.questions, this.dueAt] = await this.#store.snapshot((reads) =>
      Promise.all([
        reads.listTasks(owner, { limit: ALL, order: 'asc' }),
        reads.listQuestions(owner, { limit: ALL }),
        reads.nextDueAt(),
      ]),
    );
  }

  get pending(): QuestionRecord[] {
    return this.questions.filter(({ resolution }) => resolution === null);
  }
}
