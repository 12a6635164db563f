import { z } from 'zod';

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
    default: z.union([z.string().max(4000), z.array(z.string().max(4000)).max(50)]).nullable(),
  }),
  z.strictObject({
    ...itemBase,
    type: z.literal('text'),
    minLength: z.int().min(0).nullable(),
    maxLength: z.int().min(0).nullable(),
    default: z.string().max(4000).nullable(),
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
