import type { Conversation } from '../../model/conversation.ts';
import type { Conversations, OpenConversation } from '../client.ts';
import { readListPage } from './list-page.ts';
import { post } from './post.ts';
import { withQuery } from './query-string.ts';
import type { Requests } from './request.ts';

export function createConversations(requests: Requests): Conversations {
  const pathOf = (id: string) => `/v1/conversations/${encodeURIComponent(id)}`;

  return {
    create: (conversation = {}, options) => post(requests, '/v1/conversations', conversation, options),
    async get(id, { signal } = {}) {
      const { body } = await requests.read<OpenConversation>(pathOf(id), { signal });
      return body;
    },
    list: ({ limit, page } = {}, options) =>
      readListPage(requests, withQuery('/v1/conversations', { limit, page }), options),
    update: (id, change, { signal } = {}) => requests.send<Conversation>('PATCH', pathOf(id), change, { signal }),
    async delete(id, { signal } = {}) {
      await requests.send('DELETE', pathOf(id), undefined, { signal });
    },
    messages: (id, { order, limit, page } = {}, options) =>
      readListPage(requests, withQuery(`${pathOf(id)}/messages`, { order, limit, page }), options),
    send: (id, message, options) => post(requests, `${pathOf(id)}/messages`, message, options),
  };
}
