import { type ReadonlySignal, signal } from '@preact/signals';
import { openStoredDrafts } from '../../client/conversation/draft-storage.ts';
import { createDrafts, type Drafts } from '../../client/conversation/drafts.ts';
import { type Answers, type Client, type Draft, HoldfastError, type Question } from '../../client/index.ts';
import { failureWords } from '../words/failure.ts';
import type { FormValues } from './form-values.ts';
import { lateWords } from './late-words.ts';

/** Answers questions where no conversation is open. What is begun here goes on there, and the other way round. */
export interface QuestionDesk {
  /** By question id. */
  readonly drafts: ReadonlySignal<{ readonly [questionId: string]: Draft }>;
  /** Finds what was begun of these, and lets go of those that are not pending any more. */
  follow(pending: readonly Question[]): void;
  setDraft(question: Question, values: FormValues): void;
  /** Keeps at it until the server has decided. */
  answer(question: Question, answers: Answers): Promise<void>;
  decline(question: Question, reason: string | null): Promise<void>;
}

interface DeskOptions {
  questions: Client['questions'];
  /** Told what became of a question that was answered here. */
  onResolved(question: Question): void;
  /** Told in words what somebody should know. */
  onWords(words: string): void;
}

export function createQuestionDesk({ questions, onResolved, onWords }: DeskOptions): QuestionDesk {
  const drafts = signal<QuestionDesk['drafts']['value']>({});
  /** By where the drafts are kept. */
  const places = new Map<string, Drafts>();
  const declining = new Map<string, Draft>();
  const sent = new Map<string, Answers>();

  function draftsOf(question: Question): Drafts {
    const place = placeOf(question);
    const known = places.get(place);
    if (known !== undefined) return known;
    const opened = createDrafts(questions, openStoredDrafts(undefined, place), (resolved) => {
      show();
      if (resolved === null) return;
      tellIfLate(resolved, sent.get(resolved.id) ?? {});
      onResolved(resolved);
    });
    places.set(place, opened);
    return opened;
  }

  function show(): void {
    const all = [...places.values()].map((place) => place.all());
    drafts.value = Object.assign({}, ...all, Object.fromEntries(declining));
  }

  function tellIfLate(question: Question, answers: Answers | null): void {
    const words = lateWords(question, answers);
    if (words !== null) onWords(words);
  }

  return {
    drafts,
    follow(pending) {
      for (const question of pending) draftsOf(question);
      for (const [place, own] of places) own.follow(pending.filter((question) => placeOf(question) === place));
      show();
    },
    setDraft(question, values) {
      draftsOf(question).set(question.id, values);
      show();
    },
    answer(question, answers) {
      sent.set(question.id, answers);
      const answering = draftsOf(question).answer(question.id, answers);
      show();
      return answering;
    },
    async decline(question, reason) {
      const values = drafts.value[question.id]?.values ?? {};
      declining.set(question.id, { values, status: 'submitting', error: null });
      show();
      try {
        onResolved(await questions.decline(question.id, reason === null ? {} : { reason }));
      } catch (error) {
        const resolved = error instanceof HoldfastError ? error.question : null;
        if (resolved === null) onWords(failureWords(error));
        else {
          tellIfLate(resolved, null);
          onResolved(resolved);
        }
      } finally {
        declining.delete(question.id);
        show();
      }
    },
  };
}

/** As in a conversation, so that both find the same. */
function placeOf({ conversationId, taskId }: Question): string {
  return conversationId ?? taskId;
}
