import { useId } from 'preact/hooks';
import type { Agent } from '../../client/index.ts';

interface AgentPickerProps {
  agents: readonly Agent[];
  chosen: string;
  onChoose(name: string): void;
}

export function AgentPicker({ agents, chosen, onChoose }: AgentPickerProps) {
  const name = useId();
  return (
    <fieldset class="agents">
      <legend class="label">Agent</legend>
      <div class="choices">
        {agents.map((agent, index) => (
          <label key={agent.name} class="choice">
            <input
              type="radio"
              name={name}
              checked={agent.name === chosen}
              aria-labelledby={`${name}-${index}`}
              aria-describedby={agent.description === null ? undefined : `${name}-${index}-more`}
              onChange={() => onChoose(agent.name)}
            />
            <span class="choice-words">
              <span id={`${name}-${index}`} class="choice-label">
                {agent.name}
              </span>
              {agent.description !== null && (
                <span id={`${name}-${index}-more`} class="choice-more" dir="auto">
                  {agent.description}
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
