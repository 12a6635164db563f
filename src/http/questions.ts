import { z } from 'zod';
import type { Questions } from '../engine/questions.ts';
import { questionSchema } from '../model/question.ts';
import { anyJson, anyJsonObject, plainText, readBody } from './body.ts';
import { markReplayed, readKey } from './idempotency.ts';
import { type Operation, ownerOf, ref, sendRead } from './operation.ts';
import { pageOf, pageParameters, pageRange, toPage } from './paging.ts';
import { pathId } from './path-id.ts';
import { noQuery, once, readQuery } from './query.ts';

const PAGES = 'questions';

const answerBody = {
  schema: z
    .strictObject({ answers: anyJsonObject.optional(), answer: anyJson.optional() })
    .transform(({ answers, answer }, context) => {
      if (answers !== undefined && answer === undefined) return { answers };
      if (answer !== undefined && answers === undefined) return { answer };
      context.addIssue({ code: 'custom', message: 'Send either `answers`, by item, or `answer`.' });
      return z.NEVER;
    }),
  required: true,
};

const declineBody = {
  schema: z.strictObject({ reason: plainText.max(1000).nullable().default(null) }),
  required: false,
};

const listQuery = z.strictObject({
  status: once(questionSchema.shape.status.optional()),
  taskId: once(z.string().optional()),
  conversationId: once(z.string().optional()),
  ...pageParameters,
});

/** @see docs/protocol.md §6 */
export function questionOperations(questions: Questions): Operation[] {
  return [
    {
      id: 'listQuestions',
      method: 'get',
      path: '/v1/questions',
      access: 'tasks:read',
      summary: 'Lists questions, oldest first',
      query: listQuery,
      answers: { 200: { description: 'A page of questions.', schema: pageOf(ref('Question')) } },
      errors: ['invalid_request'],
      async handle(c) {
        const { status, taskId, conversationId, ...page } = readQuery(c, listQuery);
        const filter = {
          ...pageRange(page, PAGES, 'qst'),
          ...(status !== undefined && { status }),
          ...(taskId !== undefined && { taskId }),
          ...(conversationId !== undefined && { conversationId }),
        };
        const { questions: found, cursor } = await questions.list(ownerOf(c), filter);
        return sendRead(c, toPage(found, page.limit, PAGES), cursor);
      },
    },
    {
      id: 'getQuestion',
      method: 'get',
      path: '/v1/questions/{questionId}',
      access: 'tasks:read',
      summary: 'Shows a question',
      answers: { 200: { description: 'The question as it is now.', schema: ref('Question') } },
      errors: ['invalid_request', 'not_found'],
      async handle(c) {
        const { question, cursor } = await questions.get(ownerOf(c), pathId(c, 'questionId', 'qst'));
        readQuery(c, noQuery);
        return sendRead(c, question, cursor);
      },
    },
    {
      id: 'answerQuestion',
      method: 'post',
      path: '/v1/questions/{questionId}/answers',
      access: 'questions:answer',
      summary: 'Answers a question; the first answer wins',
      body: answerBody,
      idempotent: true,
      answers: { 200: { description: 'The question, answered now or equally before.', schema: ref('Question') } },
      errors: ['not_found', 'question_resolved', 'invalid_answer', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const id = pathId(c, 'questionId', 'qst');
        await questions.get(ownerOf(c), id);
        const { body, json } = await readBody(c, answerBody);
        readQuery(c, noQuery);
        const answered = await questions.answer(ownerOf(c), id, body, ownerOf(c), readKey(c, json));
        markReplayed(c, answered);
        return sendRead(c, answered.question, answered.cursor);
      },
    },
    {
      id: 'declineQuestion',
      method: 'post',
      path: '/v1/questions/{questionId}/decline',
      access: 'questions:answer',
      summary: 'Refuses to answer a question',
      body: declineBody,
      idempotent: true,
      answers: { 200: { description: 'The question, declined now or before.', schema: ref('Question') } },
      errors: ['not_found', 'question_resolved', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const id = pathId(c, 'questionId', 'qst');
        await questions.get(ownerOf(c), id);
        const { body, json } = await readBody(c, declineBody);
        readQuery(c, noQuery);
        const declined = await questions.decline(ownerOf(c), id, body.reason, ownerOf(c), readKey(c, json));
        markReplayed(c, declined);
        return sendRead(c, declined.question, declined.cursor);
      },
    },
  ];
}
