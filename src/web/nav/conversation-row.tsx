import type { Conversation } from '../../client/index.ts';
import type { ConversationStatus } from '../overview/overview-state.ts';
import { hrefOf } from '../route.ts';
import { memo } from '../ui/memo.tsx';
import { StatusDot } from '../ui/status-dot.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';
import { ConversationMenu } from './conversation-menu.tsx';
import { titleWords } from './title-words.ts';

interface ConversationRowProps {
  conversation: Conversation;
  status: ConversationStatus;
  questionCount: number;
  isCurrent: boolean;
}

/** A conversation in the list. All of the row leads to it, and its title alone is the link's name. */
export const ConversationRow = memo(({ conversation, status, questionCount, isCurrent }: ConversationRowProps) => {
  const { id } = conversation;
  return (
    <li class="list-row">
      <StatusDot status={status} />
      <a
        class="list-link"
        href={hrefOf({ page: 'conversation', id })}
        aria-current={isCurrent ? 'page' : undefined}
        aria-describedby={`status-${id}`}
        dir="auto"
      >
        {titleWords(conversation)}
      </a>
      {questionCount > 0 && (
        <span class="badge" aria-hidden="true">
          {questionCount}
        </span>
      )}
      <span class="list-time">
        <TimeAgo at={conversation.lastActivityAt} />
      </span>
      <span id={`status-${id}`} class="visually-hidden">
        {statusWords(status, questionCount)}
      </span>
      <ConversationMenu conversation={conversation} />
    </li>
  );
});

function statusWords(status: ConversationStatus, questionCount: number): string {
  if (status === 'waiting') {
    return questionCount === 1 ? '1 question is pending' : `${questionCount} questions are pending`;
  }
  return status === 'running' ? 'The agent is at work' : 'Nothing is going on';
}
