import type { Signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ConversationStore, ConversationView } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { QuestionPanel } from '../question/question-panel.tsx';
import { useFocusRescue } from '../ui/focus-rescue.ts';
import { memo } from '../ui/memo.tsx';
import { ReadOnly } from '../ui/read-only.tsx';
import { failureWords } from '../words/failure.ts';
import { BusyChoice, type WhenBusy } from './busy-choice.tsx';
import { COMPOSER_ID, Composer } from './composer.tsx';
import { useAnswering } from './use-answering.ts';

interface ChatFootProps {
  store: ConversationStore;
  questions: ConversationView['questions'];
  drafts: ConversationView['drafts'];
  isBusy: boolean;
  /** What is being written. */
  text: Signal<string>;
}

/** What the agent asks, and where to write. */
export const ChatFoot = memo<ChatFootProps>(({ store, questions, drafts, isBusy, text }) => {
  const { tell, mayWrite } = useApp();
  const [whenBusy, setWhenBusy] = useState<WhenBusy>('interrupt');
  const answering = useAnswering(store, questions, drafts);
  // Who was answering when a question closed stays in the conversation.
  const place = useFocusRescue<HTMLDivElement>(questions, COMPOSER_ID);

  function send(): void {
    void store.send({ content: text.value, ...(isBusy && { whenBusy }) });
    text.value = '';
  }

  return (
    <div class="chat-foot">
      <div ref={place}>
        {questions.length > 0 && (
          <QuestionPanel
            questions={questions}
            drafts={answering.drafts}
            onDraft={({ id }, values) => store.setDraft(id, values)}
            onAnswer={answering.answer}
            onDecline={answering.decline}
          />
        )}
      </div>
      {mayWrite ? (
        <Composer
          text={text.value}
          onText={(words) => {
            text.value = words;
          }}
          onSend={send}
          placeholder={placeholderWords(isBusy, questions.length > 0)}
          onStop={isBusy ? () => store.cancel().catch((error) => tell(failureWords(error))) : undefined}
        >
          {isBusy && <BusyChoice value={whenBusy} isAsked={questions.length > 0} onChange={setWhenBusy} />}
        </Composer>
      ) : (
        <ReadOnly />
      )}
    </div>
  );
});

function placeholderWords(isBusy: boolean, isAsked: boolean): string {
  if (isAsked) return 'Write something else, or answer above';
  return isBusy ? 'Write while it works' : 'Write a message';
}
