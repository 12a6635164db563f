import type { Task } from '../../model/task.ts';
import type { Tasks } from '../client.ts';
import { readListPage } from './list-page.ts';
import { post } from './post.ts';
import { withQuery } from './query-string.ts';
import type { Requests } from './request.ts';

export function createTasks(requests: Requests): Tasks {
  const pathOf = (id: string) => `/v1/tasks/${encodeURIComponent(id)}`;

  return {
    create: (task, options) => post(requests, '/v1/tasks', task, options),
    async get(id, { wait, signal } = {}) {
      const { body } = await requests.read<Task>(withQuery(pathOf(id), { wait }), { signal });
      return body;
    },
    list({ status = [], limit, page, order, agent, conversationId } = {}, options) {
      const path = withQuery('/v1/tasks', { limit, page, order, agent, conversationId });
      const more = status.map((each) => `status=${each}`).join('&');
      return readListPage(requests, more === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${more}`, options);
    },
    cancel: (id, { reason } = {}, options) => post(requests, `${pathOf(id)}/cancel`, { reason }, options),
    retry: (id, options) => post(requests, `${pathOf(id)}/retry`, {}, options),
  };
}
