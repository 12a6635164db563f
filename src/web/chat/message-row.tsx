import type { Message } from '../../client/index.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { memo } from '../ui/memo.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';

/** What somebody wrote, or an agent said, in full. */
export const MessageRow = memo(({ message }: { message: Message }) => {
  if (message.role === 'user') {
    return (
      <article class="said said-user" aria-label="You">
        <p class="bubble" dir="auto">
          {message.content}
        </p>
        <div class="said-foot">
          <TimeAgo at={message.createdAt} />
          <CopyButton text={() => message.content} name="Copy message" />
        </div>
      </article>
    );
  }
  return (
    <article class="said said-agent" aria-label="Agent">
      {message.empty ? (
        <p class="fine">
          {message.status === 'complete' ? 'It said nothing.' : 'It was ended before it said anything.'}
        </p>
      ) : (
        <Markdown text={message.content} isComplete />
      )}
      {message.status === 'partial' && !message.empty && <p class="fine">This is as far as it came.</p>}
    </article>
  );
});

/** What an agent is saying right now. */
export const TextRow = memo(({ text }: { text: string }) => (
  <article class="said said-agent said-now" aria-label="Agent" aria-busy="true">
    <Markdown text={text} isComplete={false} />
  </article>
));
