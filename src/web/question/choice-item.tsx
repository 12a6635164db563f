import { useId } from 'preact/hooks';
import type { Json, QuestionItem } from '../../client/index.ts';
import { choiceOf, withOption } from './form-values.ts';

interface ChoiceItemProps {
  item: Extract<QuestionItem, { type: 'choice' }>;
  value: Json | undefined;
  isDisabled: boolean;
  onChange(value: Json): void;
}

/** Options as cards, one or several of them, and room for an answer of one's own. Digits pick them, arrows go through. */
export function ChoiceItem({ item, value, isDisabled, onChange }: ChoiceItemProps) {
  const name = useId();
  const choice = choiceOf(value);
  const type = item.multiple ? 'checkbox' : 'radio';
  const keepsChosen = item.multiple ? choice.chosen : [];

  function onKeyDown(event: KeyboardEvent): void {
    const { target, currentTarget, key } = event;
    if (!(target instanceof HTMLInputElement) || !(currentTarget instanceof HTMLElement)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || target.type !== type) return;
    const inputs = [...currentTarget.querySelectorAll<HTMLInputElement>(`input[type=${type}]`)];
    const isDigit = /^[1-9]$/.test(key);
    const step = key === 'ArrowDown' || key === 'ArrowRight' ? 1 : key === 'ArrowUp' || key === 'ArrowLeft' ? -1 : 0;
    // Browsers move through radio buttons themselves.
    const to = isDigit
      ? inputs[Number(key) - 1]
      : item.multiple && step !== 0
        ? inputs[inputs.indexOf(target) + step]
        : null;
    if (to === null) return;
    event.preventDefault();
    to?.focus();
    if (isDigit) to?.click();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the controls inside
    <div class="choices" onKeyDown={onKeyDown}>
      {item.options.map((option, index) => (
        <label key={option.value} class="choice">
          <input
            type={type}
            name={name}
            checked={choice.chosen.includes(option.value)}
            disabled={isDisabled}
            aria-labelledby={`${name}-${index}`}
            aria-describedby={option.description === undefined ? undefined : `${name}-${index}-more`}
            onChange={() => onChange(withOption(item, choice, option.value))}
          />
          <span class="choice-words">
            <span id={`${name}-${index}`} class="choice-label" dir="auto">
              {option.label}
            </span>
            {option.description !== undefined && (
              <span id={`${name}-${index}-more`} class="choice-more" dir="auto">
                {option.description}
              </span>
            )}
          </span>
          {index < 9 && (
            <span class="key" aria-hidden="true">
              {index + 1}
            </span>
          )}
        </label>
      ))}
      {item.allowOther && (
        <div class="choice">
          <input
            type={type}
            name={name}
            checked={choice.other !== null}
            disabled={isDisabled}
            aria-label="Something else"
            onChange={() => onChange({ chosen: keepsChosen, other: choice.other === null ? '' : null })}
          />
          <input
            type="text"
            class="choice-other"
            value={choice.other ?? ''}
            disabled={isDisabled}
            placeholder="Something else"
            aria-label="Your own answer"
            dir="auto"
            maxLength={4000}
            onInput={({ currentTarget }) => onChange({ chosen: keepsChosen, other: currentTarget.value })}
          />
        </div>
      )}
    </div>
  );
}
