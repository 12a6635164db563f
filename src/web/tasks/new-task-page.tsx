import { useEffect, useId, useState } from 'preact/hooks';
import { type Agent, HoldfastError, type Json } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { keepComposerDraft, readComposerDraft } from '../chat/composer-draft.ts';
import { useSessionEnd } from '../session/use-session-end.ts';
import { Disclosure } from '../ui/disclosure.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { ReadOnly } from '../ui/read-only.tsx';
import { failureWords } from '../words/failure.ts';
import { AgentPicker } from './agent-picker.tsx';
import { schemaSample } from './schema-sample.ts';

/** Starts a task: an agent, and what it is given. */
export function NewTaskPage({ agent: wanted }: { agent: string | null }) {
  const { agentList, navigation, mayWrite } = useApp();
  useEffect(() => agentList.load(), [agentList]);
  const agents = agentList.agents.value;
  const agent = agents?.find(({ name }) => name === wanted) ?? agents?.[0] ?? null;
  return (
    <div class="page">
      <PageHead title="New task" back="tasks" />
      <div class="page-body new-task">
        {!mayWrite && <ReadOnly />}
        {agents === null && <Loading what="agents" />}
        {mayWrite && agents !== null && agent !== null && (
          <>
            <AgentPicker
              agents={agents}
              chosen={agent.name}
              onChoose={(name) => navigation.replace({ page: 'new-task', agent: name })}
            />
            <InputForm key={agent.name} agent={agent} />
          </>
        )}
      </div>
    </div>
  );
}

function InputForm({ agent }: { agent: Agent }) {
  const { client, navigation } = useApp();
  const draft = `task ${agent.name}`;
  const [text, setText] = useState(
    () => readComposerDraft(draft) || JSON.stringify(schemaSample(agent.inputSchema ?? undefined), null, 2),
  );
  useEffect(() => keepComposerDraft(draft, ''), [draft]);
  useSessionEnd(() => keepComposerDraft(draft, text));
  const [faults, setFaults] = useState<string[]>([]);
  const [isSending, setSending] = useState(false);
  const id = useId();

  async function start(event: Event): Promise<void> {
    event.preventDefault();
    const input = parsed(text);
    if (input.fault !== null) return setFaults([input.fault]);
    setSending(true);
    setFaults([]);
    try {
      const task = await client.tasks.create({ agent: agent.name, input: input.value });
      navigation.go({ page: 'task', id: task.id });
    } catch (error) {
      setFaults(faultsOf(error));
      setSending(false);
    }
  }

  return (
    <form class="task-form" onSubmit={start}>
      <label class="label" for={id}>
        Input, as JSON
      </label>
      <textarea
        id={id}
        class="input input-json"
        rows={10}
        spellcheck={false}
        autocomplete="off"
        dir="ltr"
        value={text}
        aria-invalid={faults.length > 0}
        aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void start(event);
        }}
      />
      {faults.length > 0 && (
        <ul id={`${id}-faults`} class="faults" role="alert">
          {faults.map((fault) => (
            <li key={fault} class="fault">
              <Icon name="warning" />
              {fault}
            </li>
          ))}
        </ul>
      )}
      {agent.inputSchema !== null && (
        <Disclosure summary="What this agent takes">
          {() => <JsonView label="JSON Schema" value={agent.inputSchema} />}
        </Disclosure>
      )}
      <div class="task-form-actions">
        <button type="submit" class="button button-primary" disabled={isSending}>
          {isSending ? 'Starting…' : 'Start task'}
        </button>
        <a class="button" href="#/tasks">
          Cancel
        </a>
      </div>
    </form>
  );
}

function parsed(text: string): { value: Json; fault: null } | { fault: string } {
  if (text.trim() === '') return { value: null, fault: null };
  try {
    return { value: JSON.parse(text), fault: null };
  } catch (error) {
    return { fault: `This is no JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** What the server found wrong, each with its place in the input. */
function faultsOf(error: unknown): string[] {
  const errors = error instanceof HoldfastError ? error.errors : [];
  if (errors.length === 0) return [failureWords(error)];
  return errors.map(
    ({ path, message }) => `${path === '' ? 'The input' : path.replace(/^\/input/, '') || 'The input'}: ${message}`,
  );
}
