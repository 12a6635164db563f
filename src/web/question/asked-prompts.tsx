import type { Question } from '../../client/index.ts';
import { Icon } from '../ui/icon.tsx';

/** What was asked, in short. Of several items that were answered the answers say it themselves. */
export function AskedPrompts({ question: { items, status } }: { question: Question }) {
  if (items.length > 1 && status === 'answered') return null;
  return (
    <>
      {items.map(({ id, prompt }) => (
        <p key={id} class="asked-prompt" dir="auto">
          <Icon name="question" />
          <span>{prompt.split('\n\n', 1)[0]}</span>
        </p>
      ))}
    </>
  );
}
