import { useId } from 'preact/hooks';
import type { Json } from '../../client/index.ts';

const OPTIONS = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
] as const;

interface BooleanItemProps {
  value: Json | undefined;
  isDisabled: boolean;
  onChange(value: Json): void;
}

/** Yes or no. Nothing is picked beforehand unless the agent has a default. The digits 1 and 2 pick, as do y and n. */
export function BooleanItem({ value, isDisabled, onChange }: BooleanItemProps) {
  const name = useId();

  function onKeyDown({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): void {
    if (ctrlKey || metaKey || altKey) return;
    if (key === '1' || key === 'y') onChange(true);
    if (key === '2' || key === 'n') onChange(false);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the controls inside
    <div class="choices choices-short" onKeyDown={onKeyDown}>
      {OPTIONS.map((option, index) => (
        <label key={option.label} class="choice">
          <input
            type="radio"
            name={name}
            checked={value === option.value}
            disabled={isDisabled}
            aria-label={option.label}
            onChange={() => onChange(option.value)}
          />
          <span class="choice-words choice-label">{option.label}</span>
          <span class="key" aria-hidden="true">
            {index + 1}
          </span>
        </label>
      ))}
    </div>
  );
}
