import { z } from 'zod';
import { checkAnswer } from './answer.ts';
import type { JsonObject } from './json.ts';

const optionSchema = z.strictObject({
  value: z.string().min(1).max(200),
  label: z.string().min(1).max(200),
  description: z.string().max(1000).optional(),
});

const itemBase = {
  id: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/),
  prompt: z.string().min(1).max(4000),
  header: z.string().max(80).nullable(),
  required: z.boolean(),
};

/** One thing asked, with every default filled in: what the wire shows and an answer is checked against. */
export const questionItemSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...itemBase,
    type: z.literal('choice'),
    options: z.array(optionSchema).min(1).max(50),
    multiple: z.boolean(),
    allowOther: z.boolean(),
    default: z.union([z.string(), z.array(z.string())]).nullable(),
  }),
  z.strictObject({
    ...itemBase,
    type: z.literal('text'),
    minLength: z.int().min(0).nullable(),
    maxLength: z.int().min(0).nullable(),
    default: z.string().nullable(),
  }),
  z.strictObject({ ...itemBase, type: z.literal('boolean'), default: z.boolean().nullable() }),
  z.strictObject({
    ...itemBase,
    type: z.literal('number'),
    minimum: z.number().nullable(),
    maximum: z.number().nullable(),
    integer: z.boolean(),
    default: z.number().nullable(),
  }),
]);

export type QuestionItem = z.infer<typeof questionItemSchema>;
export type QuestionOption = z.infer<typeof optionSchema>;

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
export const DEFAULT_QUESTION_TIMEOUT_MS = 15 * 60_000;

/** The wire form of a question. @see docs/protocol.md §6 */
export const questionSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  conversationId: z.string().nullable(),
  name: z.string(),
  status: z.enum(['pending', 'answered', 'declined', 'expired', 'cancelled']),
  items: z.array(questionItemSchema),
  metadata: z.record(z.string(), z.json()),
  answers: z.record(z.string(), z.json()).nullable(),
  resolvedBy: z.string().nullable(),
  reason: z.string().nullable(),
  askedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  resolvedAt: z.iso.datetime().nullable(),
});

export type QuestionStatus = z.infer<typeof questionSchema>['status'];
export type Question = z.infer<typeof questionSchema>;
export type Answers = JsonObject;

/** Why a question was cancelled. @see docs/protocol.md §6 */
export type CancelReason = 'cancelled' | 'interrupted' | 'task_finished' | 'withdrawn';

/** How a pending question came to its end. */
export type Resolution =
  | { status: 'answered'; at: number; answers: Answers; resolvedBy: string }
  | { status: 'declined'; at: number; reason: string | null; resolvedBy: string }
  | { status: 'expired'; at: number }
  | { status: 'cancelled'; at: number; reason: CancelReason };

/** A question as it is stored. `expiresAt` and `askedAt` are epoch ms; null never expires. */
export interface QuestionRecord {
  id: string;
  taskId: string;
  /** The key under which the agent asked: `dates`, `dates#2`. */
  name: string;
  items: QuestionItem[];
  metadata: JsonObject;
  askedAt: number;
  expiresAt: number | null;
  resolution: Resolution | null;
}

/** The wire form of a stored question. */
export function toQuestion(record: QuestionRecord): Question {
  const { resolution } = record;
  return {
    id: record.id,
    taskId: record.taskId,
    conversationId: null,
    name: record.name,
    status: resolution === null ? 'pending' : resolution.status,
    items: record.items,
    metadata: record.metadata,
    answers: resolution?.status === 'answered' ? resolution.answers : null,
    resolvedBy: resolution !== null && 'resolvedBy' in resolution ? resolution.resolvedBy : null,
    reason: resolution !== null && 'reason' in resolution ? resolution.reason : null,
    askedAt: new Date(record.askedAt).toISOString(),
    expiresAt: record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
    resolvedAt: resolution === null ? null : new Date(resolution.at).toISOString(),
  };
}

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
