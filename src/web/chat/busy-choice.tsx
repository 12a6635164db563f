import { useId } from 'preact/hooks';

export type WhenBusy = 'interrupt' | 'enqueue' | 'steer';

const CHOICES: { value: WhenBusy; label: string; words: string }[] = [
  { value: 'interrupt', label: 'Interrupt', words: 'Stops what it does, and begins with your message.' },
  { value: 'enqueue', label: 'Queue', words: 'Your message has its turn after this one.' },
  { value: 'steer', label: 'Steer', words: 'It reads your message at its next step, and goes on.' },
];

/** What interrupting means to somebody who was asked something. */
const WITHDRAWS = 'Takes the question back, and begins with your message.';

interface BusyChoiceProps {
  value: WhenBusy;
  /** Whether the agent waits for an answer. */
  isAsked: boolean;
  onChange(value: WhenBusy): void;
}

/** What becomes of a message while the agent is at work. */
export function BusyChoice({ value, isAsked, onChange }: BusyChoiceProps) {
  const name = useId();
  return (
    <fieldset class="busy" aria-describedby={`${name}-words`}>
      <legend class="visually-hidden">While the agent is at work</legend>
      <div class="segments">
        {CHOICES.map((choice) => (
          <label key={choice.value} class="segment" title={choice.words}>
            <input
              type="radio"
              class="visually-hidden"
              name={name}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            {choice.label}
          </label>
        ))}
      </div>
      <span id={`${name}-words`} class="busy-words">
        {isAsked && value === 'interrupt' ? WITHDRAWS : CHOICES.find((choice) => choice.value === value)?.words}
      </span>
    </fieldset>
  );
}
