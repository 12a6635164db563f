import { useSignal, useSignalEffect } from '@preact/signals';
import { useCallback, useMemo } from 'preact/hooks';
import { createConversationStore, type OutgoingEntry } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { ConversationMenu } from '../nav/conversation-menu.tsx';
import { titleWords } from '../nav/title-words.ts';
import { useSessionEnd } from '../session/use-session-end.ts';
import { storeSignal } from '../store-signal.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { failureWords } from '../words/failure.ts';
import { ChatFoot } from './chat-foot.tsx';
import { COMPOSER_ID } from './composer.tsx';
import { keepComposerDraft, readComposerDraft } from './composer-draft.ts';
import { Transcript } from './transcript.tsx';
import { usePastQuestions } from './use-past-questions.ts';

/** A conversation: what was said in it, what the agent is doing, what it asks, and where to write. */
export function ConversationPage({ id }: { id: string }) {
  const { client, tell } = useApp();
  const store = useMemo(() => createConversationStore(client, id), [client, id]);
  const view = useMemo(() => storeSignal(store), [store]).value;
  const entries = usePastQuestions(id, view.entries);
  const text = useSignal(readComposerDraft(id));
  useSignalEffect(() => keepComposerDraft(id, text.value));

  useSessionEnd(() => {
    // What has not arrived would be gone with the page.
    const unsent = store.getSnapshot().entries.flatMap((entry) => (entry.kind === 'outgoing' ? [entry.content] : []));
    keepComposerDraft(id, [...unsent, text.value].filter((words) => words !== '').join('\n\n'));
  });

  const loadOlder = useCallback(() => {
    store.loadOlder().catch((error) => tell(failureWords(error)));
  }, [store, tell]);
  const takeBack = useCallback(
    (entry: OutgoingEntry) => {
      store.discard(entry.key);
      text.value = entry.content;
      document.getElementById(COMPOSER_ID)?.focus();
    },
    [store, text],
  );

  if (view.status === 'failed') {
    return <Gone title="This conversation cannot be shown" words={view.error?.message ?? ''} />;
  }
  if (view.status === 'deleted') {
    return <Gone title="This conversation was deleted" words="Its messages, tasks and questions went with it." />;
  }
  const { conversation, unfinished, hasOlder, isLoadingOlder, questions, drafts } = view;
  return (
    <div class="page chat">
      <PageHead title={conversation === null ? 'Conversation' : titleWords(conversation)} back="conversations">
        {conversation !== null && <ConversationMenu conversation={conversation} />}
      </PageHead>
      {view.status === 'loading' ? (
        <Loading what="the conversation" />
      ) : (
        <Transcript
          entries={entries}
          unfinished={unfinished}
          hasOlder={hasOlder}
          isLoadingOlder={isLoadingOlder}
          onLoadOlder={loadOlder}
          onTakeBack={takeBack}
        />
      )}
      <ChatFoot store={store} questions={questions} drafts={drafts} isBusy={unfinished.length > 0} text={text} />
    </div>
  );
}

function Gone({ title, words }: { title: string; words: string }) {
  return (
    <div class="page">
      <PageHead title="Conversation" back="conversations" />
      <EmptyState icon="chat" title={title}>
        <p>{words}</p>
        <a class="button" href="#/conversations/new">
          New conversation
        </a>
      </EmptyState>
    </div>
  );
}
