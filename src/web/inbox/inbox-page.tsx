import { useMemo, useState } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { createQuestionDesk } from '../question/question-desk.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { useFocusRescue } from '../ui/focus-rescue.ts';
import { Loading } from '../ui/loading.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { InboxItem } from './inbox-item.tsx';
import { NotifyButton } from './notify-button.tsx';

/** So many forms are made at once. */
const AT_ONCE = 50;

/** Every question that is pending, wherever it was asked, to be answered here. What was resolved meanwhile stays in sight. */
export function InboxPage() {
  const { client, overview, tell } = useApp();
  const { questions, resolved } = overview.state.value;
  const desk = useMemo(
    () => createQuestionDesk({ questions: client.questions, onResolved: overview.resolve, onWords: tell }),
    [client, overview, tell],
  );
  const openedAt = useMemo(() => new Set(resolved.map(({ id }) => id)), []);
  // Before the forms are made, which begin with what was kept of them.
  useMemo(() => desk.follow([...questions.values()]), [desk, questions]);
  const [most, setMost] = useState(AT_ONCE);
  const shown = [...questions.values()].slice(0, most);
  const list = useFocusRescue<HTMLUListElement>(questions, 'main');
  const done = resolved.filter(({ id }) => !openedAt.has(id));

  return (
    <div class="page">
      <PageHead title="Inbox">
        <NotifyButton />
      </PageHead>
      <div class="page-body inbox">
        {!overview.isReady.value && <Loading what="questions" />}
        {overview.isReady.value && questions.size === 0 && (
          <EmptyState icon="inbox" title="Nothing waits for you">
            <p>
              When an agent asks something, in a conversation or in a task, it stands here until somebody answers it.
            </p>
          </EmptyState>
        )}
        <ul ref={list} class="inbox-list" aria-label="Pending questions">
          {shown.map((question) => (
            <InboxItem key={question.id} question={question} desk={desk} />
          ))}
        </ul>
        {questions.size > most && (
          <button type="button" class="button" onClick={() => setMost(most + AT_ONCE)}>
            Show more of {questions.size}
          </button>
        )}
        {done.length > 0 && (
          <section class="inbox-done" aria-label="Resolved just now">
            <h2>Resolved just now</h2>
            <ul class="inbox-list">
              {done.map((question) => (
                <InboxItem key={question.id} question={question} desk={desk} />
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}
