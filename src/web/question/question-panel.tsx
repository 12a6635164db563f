import { useState } from 'preact/hooks';
import type { Answers, Draft, Question } from '../../client/index.ts';
import { Icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import type { FormValues } from './form-values.ts';
import { QuestionForm } from './question-form.tsx';
import { TimeLeft } from './time-left.tsx';

interface QuestionPanelProps {
  /** Pending ones, oldest first; at least one. */
  questions: readonly Question[];
  drafts: { readonly [questionId: string]: Draft };
  onDraft(question: Question, values: FormValues): void;
  onAnswer(question: Question, answers: Answers): void;
  onDecline(question: Question, reason: string | null): void;
}

/** What the agent wants to know, above the composer. It can be put aside, to read what stands behind it. */
export function QuestionPanel({ questions, drafts, onDraft, onAnswer, onDecline }: QuestionPanelProps) {
  const [shownId, setShownId] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(true);
  const found = questions.findIndex(({ id }) => id === shownId);
  const index = found === -1 ? 0 : found;
  const question = questions[index];

  if (question === undefined) return null;
  return (
    <section class="question-panel" aria-label="Question">
      <header class="question-head">
        <span class="question-title">
          <Icon name="question" />
          {questions.length > 1 ? `Question ${index + 1} of ${questions.length}` : 'The agent asks'}
        </span>
        {question.expiresAt !== null && <TimeLeft expiresAt={question.expiresAt} />}
        {questions.length > 1 && (
          <span class="question-pager">
            <IconButton
              icon="arrow-left"
              name="Question before"
              disabled={index === 0}
              onClick={() => setShownId(questions[index - 1]?.id ?? null)}
            />
            <IconButton
              icon="arrow-left"
              class="flipped"
              name="Next question"
              disabled={index === questions.length - 1}
              onClick={() => setShownId(questions[index + 1]?.id ?? null)}
            />
          </span>
        )}
        <button type="button" class="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'}
        </button>
      </header>
      {isOpen && (
        <QuestionForm
          key={question.id}
          question={question}
          draft={drafts[question.id]}
          onDraft={(values) => onDraft(question, values)}
          onAnswer={(answers) => onAnswer(question, answers)}
          onDecline={(reason) => onDecline(question, reason)}
        />
      )}
    </section>
  );
}
