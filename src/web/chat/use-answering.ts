import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answers, ConversationStore, ConversationView, Question } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { lateWords } from '../question/late-words.ts';
import { failureWords } from '../words/failure.ts';
import { resolutionNews } from '../words/resolution.ts';

interface Answering {
  /** A refusal to answer is on its way like an answer. */
  drafts: ConversationView['drafts'];
  answer(question: Question, answers: Answers): Promise<void>;
  decline(question: Question, reason: string | null): Promise<void>;
}

/** Answers the questions of a conversation, and says in words what became of answers that were not the ones that counted. */
export function useAnswering(
  store: ConversationStore,
  questions: readonly Question[],
  drafts: ConversationView['drafts'],
): Answering {
  const { overview, tell } = useApp();
  const [declining, setDeclining] = useState<string | null>(null);
  const begun = useRef<readonly string[]>([]);

  // Somebody who has begun to answer learns why the form is gone.
  useEffect(() => {
    for (const id of begun.current) {
      const question = questions.some((each) => each.id === id) ? null : find(id);
      if (question !== null) tell(`${resolutionNews(question)}. What you had begun to answer was not sent.`);
    }
    begun.current = questions.map(({ id }) => id).filter((id) => drafts[id]?.status === 'editing');
  }, [questions, drafts]);

  function find(questionId: string): Question | null {
    const entry = store.getSnapshot().entries.find(({ key }) => key === questionId);
    return entry?.kind === 'question' ? entry.question : null;
  }

  function tellIfLate(questionId: string, answers: Answers | null): void {
    const question = find(questionId);
    if (question === null) return;
    overview.resolve(question);
    const words = lateWords(question, answers);
    if (words !== null) tell(words);
  }

  return {
    drafts: useMemo(() => {
      if (declining === null) return drafts;
      const values = drafts[declining]?.values ?? {};
      return { ...drafts, [declining]: { values, status: 'submitting' as const, error: null } };
    }, [drafts, declining]),
    async answer({ id }, answers) {
      await store.answer(id, answers);
      tellIfLate(id, answers);
    },
    async decline({ id }, reason) {
      setDeclining(id);
      try {
        await store.decline(id, reason ?? undefined);
        tellIfLate(id, null);
      } catch (error) {
        tell(failureWords(error));
      } finally {
        setDeclining(null);
      }
    },
  };
}
