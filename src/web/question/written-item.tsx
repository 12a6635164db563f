import type { Json, QuestionItem } from '../../client/index.ts';
import { textOf } from './form-values.ts';

interface WrittenItemProps {
  item: Extract<QuestionItem, { type: 'text' | 'number' }>;
  value: Json | undefined;
  isDisabled: boolean;
  /** The id of what asks. */
  labelId: string;
  /** The id of what is wrong; null while nothing is. */
  faultId: string | null;
  onChange(value: Json): void;
}

/** What is written rather than chosen: text of any length, or a number. */
export function WrittenItem({ item, value, isDisabled, labelId, faultId, onChange }: WrittenItemProps) {
  const shared = {
    value: textOf(value),
    disabled: isDisabled,
    'aria-labelledby': labelId,
    'aria-describedby': faultId ?? undefined,
    'aria-invalid': faultId !== null,
    dir: 'auto' as const,
  };
  if (item.type === 'number') {
    return (
      <div class="written">
        <input
          {...shared}
          class="input input-number"
          type="text"
          inputMode={item.integer && (item.minimum ?? -1) >= 0 ? 'numeric' : 'decimal'}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <span class="written-rule">{numberRule(item)}</span>
      </div>
    );
  }
  const left = item.maxLength === null ? null : item.maxLength - [...textOf(value)].length;
  return (
    <div class="written written-text">
      <textarea
        {...shared}
        class="input"
        rows={item.maxLength !== null && item.maxLength <= 200 ? 2 : 3}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {left !== null && <span class="written-rule">{left < 0 ? `${-left} too many` : `${left} left`}</span>}
    </div>
  );
}

function numberRule({ minimum, maximum, integer }: Extract<QuestionItem, { type: 'number' }>): string {
  const kind = integer ? 'a whole number' : 'a number';
  if (minimum !== null && maximum !== null) return `${kind} from ${minimum} to ${maximum}`;
  if (minimum !== null) return `${kind}, at least ${minimum}`;
  return maximum === null ? kind : `${kind}, at most ${maximum}`;
}
