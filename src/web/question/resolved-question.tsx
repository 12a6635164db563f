import type { Question } from '../../client/index.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { answerWords, resolutionWords } from '../words/resolution.ts';

const ICONS: { [status in Question['status']]: IconName } = {
  pending: 'question',
  answered: 'check',
  declined: 'close',
  expired: 'clock',
  cancelled: 'close',
};

/** How a question came to its end: who answered what, or why nobody did. */
export function ResolvedQuestion({ question }: { question: Question }) {
  const { text, who } = resolutionWords(question);
  const answers = question.status === 'answered' ? answerWords(question) : [];
  const [only] = answers;
  return (
    <div class={`resolved resolved-${question.status}`}>
      <p class="resolved-line">
        <Icon name={ICONS[question.status]} />
        <span>
          {text}
          {who !== null && (
            <>
              {' '}
              <bdi>{who}</bdi>
            </>
          )}
          {answers.length === 1 && only !== undefined && (
            <>
              {': '}
              <bdi class="resolved-answer">{only.answer ?? 'nothing'}</bdi>
            </>
          )}
          {question.status === 'declined' && question.reason !== null && (
            <>
              {': '}
              <bdi class="resolved-answer">{question.reason}</bdi>
            </>
          )}
        </span>
      </p>
      {answers.length > 1 && (
        <dl class="resolved-answers">
          {answers.map(({ id, label, answer }) => (
            <div key={id}>
              <dt dir="auto">{label}</dt>
              <dd dir="auto">{answer ?? 'Not answered'}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
