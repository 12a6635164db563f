import type { Question } from '../../model/question.ts';
import type { Questions } from '../client.ts';
import { readListPage } from './list-page.ts';
import { post } from './post.ts';
import { withQuery } from './query-string.ts';
import type { Requests } from './request.ts';

export function createQuestions(requests: Requests): Questions {
  const pathOf = (id: string) => `/v1/questions/${encodeURIComponent(id)}`;

  return {
    async get(id, { signal } = {}) {
      const { body } = await requests.read<Question>(pathOf(id), { signal });
      return body;
    },
    list: ({ status, taskId, conversationId, limit, page } = {}, options) =>
      readListPage(requests, withQuery('/v1/questions', { status, taskId, conversationId, limit, page }), options),
    answer: (id, answers, options) => post(requests, `${pathOf(id)}/answers`, { answers }, options),
    decline: (id, { reason } = {}, options) => post(requests, `${pathOf(id)}/decline`, { reason }, options),
  };
}
