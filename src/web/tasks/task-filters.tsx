import { useEffect } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { titleWords } from '../nav/title-words.ts';
import { byActivity } from '../overview/overview-state.ts';
import { isStatus, type TaskFilter } from '../route.ts';
import { STATUS_WORDS } from '../words/task-status.ts';

const ALL = '';
const MAX_CONVERSATIONS = 50;

/** Which tasks are shown. The address has it too, so that it can be sent to somebody. */
export function TaskFilters({ filter }: { filter: TaskFilter }) {
  const { navigation, agentList, overview } = useApp();
  useEffect(() => agentList.load(), [agentList]);
  const agents = (agentList.agents.value ?? []).map(({ name }) => name);
  const recent = byActivity(overview.state.value.conversations).slice(0, MAX_CONVERSATIONS);
  const conversations = recent.map((conversation) => ({ value: conversation.id, label: titleWords(conversation) }));

  function change(to: Partial<TaskFilter>): void {
    navigation.replace({ page: 'tasks', filter: { ...filter, ...to } });
  }

  return (
    <fieldset class="filters">
      <legend class="visually-hidden">Filters</legend>
      <Choice
        label="Status"
        value={filter.status}
        options={Object.entries(STATUS_WORDS).map(([value, label]) => ({ value, label }))}
        onChange={(value) => change({ status: value !== null && isStatus(value) ? value : null })}
      />
      <Choice
        label="Agent"
        value={filter.agent}
        options={agents.map((name) => ({ value: name, label: name }))}
        onChange={(agent) => change({ agent })}
      />
      <Choice
        label="Conversation"
        value={filter.conversationId}
        options={conversations}
        onChange={(conversationId) => change({ conversationId })}
      />
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  value: string | null;
  options: { value: string; label: string }[];
  onChange(value: string | null): void;
}

/** What is chosen is there even if the list of options has not come, or does not have it. */
function Choice({ label, value, options, onChange }: ChoiceProps) {
  const isMissing = value !== null && options.every((option) => option.value !== value);
  return (
    <label class="filter">
      <span>{label}</span>
      <select
        class="select"
        value={value ?? ALL}
        onChange={({ currentTarget }) => onChange(currentTarget.value === ALL ? null : currentTarget.value)}
      >
        <option value={ALL}>All</option>
        {isMissing && <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
