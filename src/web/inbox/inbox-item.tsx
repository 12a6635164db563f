import type { Question } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { titleWords } from '../nav/title-words.ts';
import { AskedPrompts } from '../question/asked-prompts.tsx';
import type { QuestionDesk } from '../question/question-desk.ts';
import { QuestionForm } from '../question/question-form.tsx';
import { ResolvedQuestion } from '../question/resolved-question.tsx';
import { TimeLeft } from '../question/time-left.tsx';
import { hrefOf } from '../route.ts';
import { Icon } from '../ui/icon.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';

/** A question with where it comes from. */
export function InboxItem({ question, desk }: { question: Question; desk: QuestionDesk }) {
  const isPending = question.status === 'pending';
  return (
    <li class={isPending ? 'inbox-item' : 'inbox-item inbox-item-done'}>
      <header class="inbox-head">
        <Origin question={question} />
        <span class="inbox-time">
          <TimeAgo at={question.askedAt} />
        </span>
        {isPending && question.expiresAt !== null && <TimeLeft expiresAt={question.expiresAt} />}
      </header>
      {isPending ? (
        <QuestionForm
          question={question}
          draft={desk.drafts.value[question.id]}
          onDraft={(values) => desk.setDraft(question, values)}
          onAnswer={(answers) => void desk.answer(question, answers)}
          onDecline={(reason) => void desk.decline(question, reason)}
        />
      ) : (
        <div class="inbox-resolved">
          <AskedPrompts question={question} />
          <ResolvedQuestion question={question} />
        </div>
      )}
    </li>
  );
}

function Origin({ question: { conversationId, taskId } }: { question: Question }) {
  const { overview } = useApp();
  const { conversations, tasks } = overview.state.value;
  const agent = tasks.get(taskId)?.agent;
  const conversation = conversationId === null ? undefined : conversations.get(conversationId);
  if (conversationId !== null) {
    return (
      <a class="inbox-origin" href={hrefOf({ page: 'conversation', id: conversationId })}>
        <Icon name="chat" />
        <bdi>{conversation === undefined ? 'A conversation' : titleWords(conversation)}</bdi>
      </a>
    );
  }
  return (
    <a class="inbox-origin" href={hrefOf({ page: 'task', id: taskId })}>
      <Icon name="tasks" />
      {agent === undefined ? 'A task' : `Task of ${agent}`}
    </a>
  );
}
