import { z } from 'zod';
import type { Reply } from '../model/agent.ts';
import { type Json, type JsonObject, utf8Bytes } from '../model/json.ts';
import type { ItemSpec } from '../model/question-spec.ts';
import { reasonText } from './question-tool.ts';
import type { QuestionTool } from './tool.ts';
import { parseToolInput, toolInputSchema } from './tool-input.ts';

/** A question of ours has 16 KiB for that of all four. */
const MAX_METADATA_BYTES = 3 * 1024;

const option = z.object({
  label: z.string().min(1).max(200),
  description: z.string().max(1000).optional().describe('What choosing it means'),
});

const question = z.object({
  header: z.string().min(1).max(80).describe('One to three words that stand above the question'),
  prompt: z.string().min(1).max(4000).describe('The question itself, in whole sentences'),
  options: z
    .array(option)
    .max(20)
    .refine(haveOwnLabels, 'Two options have the same label.')
    .default([])
    .describe('What the user can choose from; without any, they write their answer'),
  multiSelect: z.boolean().default(false).describe('Whether several options may be chosen'),
  freeText: z.boolean().default(true).describe('Whether the user may write something else than the options'),
  metadata: z
    .object({})
    .catchall(z.union([z.string(), z.number(), z.boolean()]))
    .refine((metadata) => utf8Bytes(JSON.stringify(metadata)) <= MAX_METADATA_BYTES, 'At most 3 KiB of JSON.')
    .optional()
    .describe('For the program that shows the question; the user does not see it'),
});

const input = z.object({ questions: z.array(question).min(1).max(4) });

type Question = z.infer<typeof question>;

/** The tool by which a model asks the user: up to four questions at once, which become one question of ours. */
export const askUserQuestions: QuestionTool = Object.freeze({
  kind: 'question',
  name: 'ask_user_questions',
  description:
    'Asks the user 1 to 4 questions at once and waits for the answers. Use it when you cannot go on well without ' +
    'knowing something that only the user can decide. Ask what belongs together in one call.',
  inputSchema: toolInputSchema(input),
  parse: (given: Json) => parseToolInput(input, given),
  toAsk({ questions }: z.infer<typeof input>) {
    return { items: questions.map(toItem), metadata: metadataOf(questions) };
  },
  toResult(reply: Reply, { questions }: z.infer<typeof input>) {
    switch (reply.status) {
      case 'answered':
        return [
          'The user answered.',
          ...questions.map(({ prompt, options }, index) => {
            const answer = reply.answers[itemId(index)] ?? null;
            return `${index + 1}. ${prompt}\nAnswer: ${answerText(answer, options)}`;
          }),
        ].join('\n\n');
      case 'declined':
        return `The user declined to answer. ${reasonText(reply.reason)} Go on without the answer, as far as you can.`;
      case 'expired':
        return (
          'Nobody answered in time. That is neither consent nor a choice: do not assume an answer. ' +
          'Do what needs none, and say what is still open.'
        );
      case 'withdrawn':
        return 'The question was withdrawn before anybody answered it. There is no answer.';
    }
  },
});

function toItem({ header, prompt, options, multiSelect, freeText }: Question, index: number): ItemSpec {
  const asked = { id: itemId(index), header, prompt };
  if (options.length === 0) return { ...asked, type: 'text' };
  return {
    ...asked,
    type: 'choice',
    options: options.map(({ label, description }) => ({ label, ...(description !== undefined && { description }) })),
    multiple: multiSelect,
    allowOther: freeText,
  };
}

/** The metadata of each question that has some, by the id of its item. */
function metadataOf(questions: Question[]): JsonObject {
  return Object.fromEntries(questions.flatMap(({ metadata }, index) => (metadata ? [[itemId(index), metadata]] : [])));
}

function itemId(index: number): string {
  return `q${index + 1}`;
}

function answerText(answer: Json, options: Question['options']): string {
  if (answer === null) return '(none given)';
  if (!Array.isArray(answer)) return wordsOf(answer, options);
  return answer.length === 0 ? '(none of the options)' : answer.map((each) => wordsOf(each, options)).join('; ');
}

/** Tells what somebody chose from what they wrote themselves. */
function wordsOf(answer: Json, options: Question['options']): string {
  const text = String(answer);
  const isOwn = options.length > 0 && options.every(({ label }) => label !== text);
  return isOwn ? `${text} (their own words)` : text;
}

function haveOwnLabels(options: { label: string }[]): boolean {
  return new Set(options.map(({ label }) => label)).size === options.length;
}
