import type { z } from 'zod';
import { checkAnswer } from './answer.ts';
import { type QuestionItem, questionItemSchema } from './question-item.ts';

/** What an agent may write for an option: a bare string is its value and its label. */
export type OptionSpec = string | { value?: string; label: string; description?: string };

interface ItemSpecBase {
  /** Letters, digits, `_` and `-`, beginning with a letter; unique within the question. */
  id: string;
  prompt: string;
  header?: string;
  /** Default true: the answer may not leave this item out. */
  required?: boolean;
}

/** What an agent writes for an item: `type` is `choice` where there are options, else `text`. */
export type ItemSpec =
  | (ItemSpecBase & {
      type?: 'choice';
      options: OptionSpec[];
      multiple?: boolean;
      allowOther?: boolean;
      default?: string | string[];
    })
  | (ItemSpecBase & { type?: 'text'; minLength?: number; maxLength?: number; default?: string })
  | (ItemSpecBase & { type: 'boolean'; default?: boolean })
  | (ItemSpecBase & { type: 'number'; minimum?: number; maximum?: number; integer?: boolean; default?: number });

export const MAX_ITEMS = 20;

/**
 * Fills in the defaults of what an agent asked for.
 *
 * @throws TypeError naming the item and the rule it breaks: an agent's mistake, found at the call
 */
export function normalizeItems(specs: readonly ItemSpec[]): QuestionItem[] {
  if (!Array.isArray(specs) || specs.length < 1 || specs.length > MAX_ITEMS) {
    throw new TypeError(`A question has 1 to ${MAX_ITEMS} items.`);
  }
  const ids = new Set<string>();
  return specs.map((spec, index) => {
    const parsed = questionItemSchema.safeParse(withDefaults(spec));
    if (!parsed.success) throw new TypeError(`Item ${index}: ${describe(parsed.error)}`);
    const item = parsed.data;
    const fault = ids.has(item.id) ? `the id "${item.id}" is used twice.` : contradiction(item);
    if (fault !== null) throw new TypeError(`Item ${index}: ${fault}`);
    ids.add(item.id);
    return item;
  });
}

/** What an agent wrote is JavaScript, whatever its type says: what has the wrong form is left to the schema to refuse. */
function withDefaults(written: unknown): unknown {
  if (!isObject(written)) return written;
  const spec = withoutUndefined(written);
  const { type = 'options' in spec ? 'choice' : 'text' } = spec;
  const common = { header: null, required: true, default: null };
  switch (type) {
    case 'choice': {
      const options = Array.isArray(spec.options) ? spec.options.map(withValue) : spec.options;
      return { ...common, multiple: false, allowOther: false, ...spec, type, options };
    }
    case 'text':
      return { ...common, minLength: null, maxLength: null, ...spec, type };
    case 'number':
      return { ...common, minimum: null, maximum: null, integer: false, ...spec };
    default:
      return { ...common, ...spec };
  }
}

function withValue(option: unknown): unknown {
  if (typeof option === 'string') return { value: option, label: option };
  return isObject(option) ? { value: option.label, ...withoutUndefined(option) } : option;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function describe({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [...path, message].join(': ')).join('; ');
}

/** What in an item's rules nobody could satisfy or tell apart; null when there is nothing. */
function contradiction(item: QuestionItem): string | null {
  if (item.type === 'choice') {
    const values = item.options.map(({ value }) => value);
    const twice = values.find((value, at) => values.indexOf(value) !== at);
    if (twice !== undefined) return `the option "${twice}" is there twice.`;
  }
  if (item.type === 'text' && isAbove(item.minLength, item.maxLength)) return 'minLength is above maxLength.';
  if (item.type === 'number' && isAbove(item.minimum, item.maximum)) return 'minimum is above maximum.';
  const fault = item.default === null ? null : checkAnswer(item, item.default);
  return fault === null ? null : `default: ${fault}`;
}

function isAbove(least: number | null, most: number | null): boolean {
  return least !== null && most !== null && least > most;
}
