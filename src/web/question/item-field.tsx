import { useId } from 'preact/hooks';
import type { Json, QuestionItem } from '../../client/index.ts';
import { Icon } from '../ui/icon.tsx';
import { BooleanItem } from './boolean-item.tsx';
import { ChoiceItem } from './choice-item.tsx';
import { WrittenItem } from './written-item.tsx';

interface ItemFieldProps {
  item: QuestionItem;
  value: Json | undefined;
  fault: string | null;
  isDisabled: boolean;
  onChange(value: Json): void;
}

/** One thing asked: its words, what answers it, and what is wrong with that. */
export function ItemField({ item, value, fault, isDisabled, onChange }: ItemFieldProps) {
  const id = useId();
  const faultId = fault === null ? null : `${id}-fault`;
  // Prompts may be long, such as those that show what a tool would do: the first paragraph is the question.
  const [asked = '', ...more] = item.prompt.split('\n\n');
  const describedBy = [more.length > 0 ? `${id}-more` : null, faultId].filter((each) => each !== null).join(' ');
  return (
    <fieldset class="item" data-item={item.id} aria-describedby={describedBy === '' ? undefined : describedBy}>
      <legend id={`${id}-asked`}>
        {item.header !== null && (
          <span class="item-header" dir="auto">
            {item.header}
          </span>
        )}
        <span class="item-prompt" dir="auto">
          {asked}
          {!item.required && <span class="item-optional"> (optional)</span>}
        </span>
      </legend>
      {more.length > 0 && (
        <div id={`${id}-more`} class="item-more" dir="auto">
          {more.join('\n\n')}
        </div>
      )}
      {item.type === 'choice' && item.multiple && (
        <p class="item-rule">{item.required ? 'Choose any number; none is an answer too.' : 'Choose any number.'}</p>
      )}
      {item.type === 'choice' && <ChoiceItem item={item} value={value} isDisabled={isDisabled} onChange={onChange} />}
      {item.type === 'boolean' && <BooleanItem value={value} isDisabled={isDisabled} onChange={onChange} />}
      {(item.type === 'text' || item.type === 'number') && (
        <WrittenItem
          item={item}
          value={value}
          isDisabled={isDisabled}
          labelId={`${id}-asked`}
          faultId={faultId}
          onChange={onChange}
        />
      )}
      {faultId !== null && (
        <p id={faultId} class="fault">
          <Icon name="warning" />
          {fault}
        </p>
      )}
    </fieldset>
  );
}
