import { useEffect, useState } from 'preact/hooks';
import { takesMessages } from '../agent-list.ts';
import { useApp } from '../app-context.ts';
import { titleOf } from '../nav/title-words.ts';
import { Mark } from '../ui/mark.tsx';
import { ReadOnly } from '../ui/read-only.tsx';
import { Sending } from '../ui/sending.tsx';
import { failureWords } from '../words/failure.ts';
import { Composer } from './composer.tsx';
import { keepComposerDraft, readComposerDraft } from './composer-draft.ts';

const DRAFT = 'new';
const DEFAULT_AGENT = 'assistant';
const EXAMPLES = ['Plan me a weekend in Porto', 'What is a weekend in Oslo like?'];

/** Where a conversation begins. It is made with its first message, so that none stays empty. */
export function StartPage() {
  const { client, navigation, agentList, tell, mayWrite } = useApp();
  const [text, setText] = useState(() => readComposerDraft(DRAFT));
  const [agent, setAgent] = useState(DEFAULT_AGENT);
  const [isSending, setSending] = useState(false);
  const agents = (agentList.agents.value ?? []).filter(takesMessages);
  useEffect(() => agentList.load(), [agentList]);

  function write(words: string): void {
    setText(words);
    keepComposerDraft(DRAFT, words);
  }

  async function begin(content: string): Promise<void> {
    setSending(true);
    try {
      const { id } = await client.conversations.create({ title: titleOf(content) });
      await client.conversations.send(id, { content, ...(agent !== DEFAULT_AGENT && { agent }) }).catch((error) => {
        keepComposerDraft(id, content);
        tell(`The message was not sent. ${failureWords(error)}`);
      });
      write('');
      navigation.go({ page: 'conversation', id });
    } catch (error) {
      tell(`The conversation was not begun. ${failureWords(error)}`);
    } finally {
      setSending(false);
    }
  }

  return (
    <div class="page start">
      <div class="start-inner">
        <Mark />
        <h1>What needs doing?</h1>
        <p class="start-words">
          It goes on when you close this page, asks you when it must, and is here when you come back.
        </p>
        {mayWrite ? (
          <>
            <Composer
              text={text}
              onText={write}
              onSend={() => void begin(text)}
              placeholder="Write the first message"
              isSending={isSending}
            >
              {agents.length > 1 && (
                <label class="agent-choice">
                  <span>Agent</span>
                  <select class="select" value={agent} onChange={({ currentTarget }) => setAgent(currentTarget.value)}>
                    {agents.map(({ name }) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
              )}
              {isSending && <Sending />}
            </Composer>
            <ul class="examples" aria-label="Examples">
              {EXAMPLES.map((example) => (
                <li key={example}>
                  <button type="button" class="example" disabled={isSending} onClick={() => void begin(example)}>
                    {example}
                  </button>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <ReadOnly />
        )}
      </div>
    </div>
  );
}
