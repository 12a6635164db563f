import type { Question } from '../../client/index.ts';
import { AskedPrompts } from '../question/asked-prompts.tsx';
import { ResolvedQuestion } from '../question/resolved-question.tsx';
import { memo } from '../ui/memo.tsx';

/** A question in the place where it was asked. While it is pending, its form stands above the composer. */
export const QuestionRow = memo(({ question }: { question: Question }) => (
  <div class={`asked asked-${question.status}`}>
    <AskedPrompts question={question} />
    {question.status !== 'pending' && <ResolvedQuestion question={question} />}
  </div>
));
