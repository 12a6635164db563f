import { failpoint } from '../failpoint.ts';
import type { KeyUse, VerbCall } from '../model/batch.ts';
import { HoldfastError } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import { type Answers, type Question, toQuestion } from '../model/question.ts';
import type { Committed, QuestionFilter, Store } from '../store/store.ts';
import type { InProgress } from './in-progress.ts';
import type { Log } from './log.ts';
import { headCursor, plainCursor } from './position.ts';
import { unwrap } from './refusal.ts';
import type { Read, Written } from './tasks.ts';

/** What clients do with questions. First answer wins. @see docs/protocol.md §6 */
export interface Questions {
  /** @throws HoldfastError `not_found` */
  get(owner: string, id: string): Promise<Read<{ question: Question }>>;
  /** Oldest first. */
  list(owner: string, filter: QuestionFilter): Promise<Read<{ questions: Question[] }>>;
  /** @throws HoldfastError `not_found`, `question_resolved`, `invalid_answer`, and those of idempotency and storage */
  answer(
    owner: string,
    id: string,
    given: { answers: Answers } | { answer: Json },
    resolvedBy: string,
    idempotency?: KeyUse,
  ): Promise<Written<{ question: Question }>>;
  /** @throws HoldfastError `not_found`, `question_resolved`, and those of idempotency and storage */
  decline(
    owner: string,
    id: string,
    reason: string | null,
    resolvedBy: string,
    idempotency?: KeyUse,
  ): Promise<Written<{ question: Question }>>;
}

type QuestionCall = VerbCall<'answerQuestion' | 'declineQuestion'>;

export interface QuestionsDependencies {
  store: Store;
  log: Log;
  inProgress: InProgress;
}

export function createQuestions({ store, log, inProgress }: QuestionsDependencies): Questions {
  /** The cursor is that of the commit, not of what has come since: it may be where a client follows on. */
  async function written(
    owner: string,
    { outcomes, firstSeq, events }: Committed<readonly [QuestionCall]>,
  ): Promise<Written<{ question: Question }>> {
    const state = await store.log(owner);
    const { result, replayed } = unwrap(outcomes[0], state);
    const cursor = plainCursor(state, firstSeq - 1 + events.length);
    return { question: toQuestion(result.question), replayed, cursor };
  }

  return {
    async get(owner, id) {
      const [question, log] = await store.snapshot((reads) =>
        Promise.all([reads.question(owner, id), reads.log(owner)]),
      );
      if (question === null) throw new HoldfastError('not_found', 'There is no such question.');
      return { question: toQuestion(question), cursor: headCursor(log) };
    },

    async list(owner, filter) {
      const [questions, log] = await store.snapshot((reads) =>
        Promise.all([reads.listQuestions(owner, filter), reads.log(owner)]),
      );
      return { questions: questions.map(toQuestion), cursor: headCursor(log) };
    },

    answer(owner, questionId, given, resolvedBy, idempotency) {
      const args = { questionId, given, resolvedBy };
      return inProgress.run(owner, idempotency, async () => {
        const call = { verb: 'answerQuestion', args, ...(idempotency && { idempotency }) } as const;
        const committed = await log.commit(owner, [call]);
        failpoint?.('question-answered');
        return written(owner, committed);
      });
    },

    decline(owner, questionId, reason, resolvedBy, idempotency) {
      const args = { questionId, reason, resolvedBy };
      return inProgress.run(owner, idempotency, async () => {
        const call = { verb: 'declineQuestion', args, ...(idempotency && { idempotency }) } as const;
        const committed = await log.commit(owner, [call]);
        failpoint?.('question-declined');
        return written(owner, committed);
      });
    },
  };
}
