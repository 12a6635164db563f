import { z } from 'zod';
import type { Conversations } from '../engine/conversations.ts';
import { AGENT_NAME } from '../model/agent-name.ts';
import { utf8Bytes } from '../model/json.ts';
import { metadata, plainText, readBody } from './body.ts';
import { markReplayed, readKey } from './idempotency.ts';
import { type Operation, ownerOf, ref, sendRead } from './operation.ts';
import { pageOf, pageParameters, pageRange, timedPageRange, toPage, toTimedPage } from './paging.ts';
import { pathId } from './path-id.ts';
import { noQuery, once, readQuery } from './query.ts';

const PAGES = 'conversations';
const MAX_CONTENT_BYTES = 1024 * 1024;
/** What JSON makes of a content can be longer than itself. */
const MAX_MESSAGE_BODY_BYTES = 4 * 1024 * 1024;

const title = plainText.max(255).nullable();

const createBody = {
  schema: z.strictObject({ title: title.default(null), metadata: metadata.default({}) }),
  required: false,
};

const updateBody = {
  schema: z
    .strictObject({ title: title.optional(), metadata: metadata.optional() })
    .transform(({ title: newTitle, metadata: newMetadata }) => ({
      ...(newTitle !== undefined && { title: newTitle }),
      ...(newMetadata !== undefined && { metadata: newMetadata }),
    })),
  required: true,
};

const messageBody = {
  schema: z.strictObject({
    content: plainText.min(1).refine((text) => utf8Bytes(text) <= MAX_CONTENT_BYTES, 'A message may have 1 MiB.'),
    agent: z.string().regex(AGENT_NAME).nullable().default(null),
    whenBusy: z.enum(['interrupt', 'enqueue', 'reject', 'steer']).default('interrupt'),
    metadata: metadata.default({}),
  }),
  required: true,
  maxBytes: MAX_MESSAGE_BODY_BYTES,
};

const listQuery = z.strictObject({ ...pageParameters });
const messagesQuery = z.strictObject({ order: once(z.enum(['asc', 'desc']).default('asc')), ...pageParameters });

/** @see docs/protocol.md §7 */
export function conversationOperations(conversations: Conversations): Operation[] {
  return [
    {
      id: 'createConversation',
      method: 'post',
      path: '/v1/conversations',
      access: 'tasks:write',
      newWork: true,
      summary: 'Opens a conversation',
      body: createBody,
      idempotent: true,
      answers: { 201: { description: 'The conversation; `Location` names it.', schema: ref('Conversation') } },
      errors: ['overloaded', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const { body, json } = await readBody(c, createBody);
        readQuery(c, noQuery);
        const created = await conversations.create(ownerOf(c), body, readKey(c, json));
        markReplayed(c, created);
        c.header('Location', `/v1/conversations/${created.conversation.id}`);
        return sendRead(c, created.conversation, created.cursor, 201);
      },
    },
    {
      id: 'listConversations',
      method: 'get',
      path: '/v1/conversations',
      access: 'tasks:read',
      summary: 'Lists conversations, the newest activity first',
      query: listQuery,
      answers: { 200: { description: 'A page of conversations.', schema: pageOf(ref('Conversation')) } },
      errors: ['invalid_request'],
      async handle(c) {
        const page = readQuery(c, listQuery);
        const range = timedPageRange(page, PAGES, 'conv');
        const { conversations: found, cursor } = await conversations.list(ownerOf(c), range);
        return sendRead(
          c,
          toTimedPage(found, page.limit, PAGES, ({ lastActivityAt }) => lastActivityAt),
          cursor,
        );
      },
    },
    {
      id: 'getConversation',
      method: 'get',
      path: '/v1/conversations/{conversationId}',
      access: 'tasks:read',
      summary: 'Shows a conversation, what is unfinished in it, and from where to stream that',
      answers: { 200: { description: 'The conversation as it is now.', schema: ref('OpenConversation') } },
      errors: ['invalid_request', 'not_found'],
      async handle(c) {
        const { conversation, cursor } = await conversations.get(ownerOf(c), pathId(c, 'conversationId', 'conv'));
        readQuery(c, noQuery);
        return sendRead(c, conversation, cursor);
      },
    },
    {
      id: 'updateConversation',
      method: 'patch',
      path: '/v1/conversations/{conversationId}',
      access: 'tasks:write',
      summary: 'Gives a conversation another title or other metadata',
      body: updateBody,
      answers: { 200: { description: 'The conversation as it is now.', schema: ref('Conversation') } },
      errors: ['not_found', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const id = pathId(c, 'conversationId', 'conv');
        await conversations.record(ownerOf(c), id);
        const { body } = await readBody(c, updateBody);
        readQuery(c, noQuery);
        const { conversation, cursor } = await conversations.update(ownerOf(c), id, body);
        return sendRead(c, conversation, cursor);
      },
    },
    {
      id: 'deleteConversation',
      method: 'delete',
      path: '/v1/conversations/{conversationId}',
      access: 'tasks:write',
      summary: 'Deletes a conversation with its tasks, messages, questions and events',
      answers: { 204: { description: 'It is gone.' } },
      errors: ['invalid_request', 'not_found', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const id = pathId(c, 'conversationId', 'conv');
        await conversations.record(ownerOf(c), id);
        readQuery(c, noQuery);
        await conversations.delete(ownerOf(c), id);
        return c.body(null, 204);
      },
    },
    {
      id: 'listMessages',
      method: 'get',
      path: '/v1/conversations/{conversationId}/messages',
      access: 'tasks:read',
      summary: 'Lists the messages of a conversation',
      query: messagesQuery,
      answers: { 200: { description: 'A page of messages.', schema: pageOf(ref('Message')) } },
      errors: ['invalid_request', 'not_found'],
      async handle(c) {
        const conversationId = pathId(c, 'conversationId', 'conv');
        await conversations.record(ownerOf(c), conversationId);
        const { order, ...page } = readQuery(c, messagesQuery);
        const kind = `messages ${conversationId} ${order}`;
        const filter = { conversationId, order, ...pageRange(page, kind, 'msg') };
        const { messages, cursor } = await conversations.messages(ownerOf(c), filter);
        return sendRead(c, toPage(messages, page.limit, kind), cursor);
      },
    },
    {
      id: 'postMessage',
      method: 'post',
      path: '/v1/conversations/{conversationId}/messages',
      access: 'tasks:write',
      newWork: true,
      summary: 'Writes in a conversation, which begins a turn or steers the one that is unfinished',
      body: messageBody,
      idempotent: true,
      answers: {
        202: {
          description: 'The message is on disk, and the task that answers it.',
          schema: {
            type: 'object',
            required: ['message', 'task'],
            properties: { message: ref('Message'), task: ref('Task') },
          },
        },
      },
      errors: [
        'not_found',
        'conversation_busy',
        'unknown_agent',
        'invalid_input',
        'rate_limited',
        'overloaded',
        'draining',
        'storage_full',
        'storage_unavailable',
      ],
      async handle(c) {
        const id = pathId(c, 'conversationId', 'conv');
        await conversations.record(ownerOf(c), id);
        const { body, json } = await readBody(c, messageBody);
        readQuery(c, noQuery);
        const { message, task, cursor, replayed } = await conversations.post(ownerOf(c), id, body, readKey(c, json));
        markReplayed(c, { replayed });
        return sendRead(c, { message, task }, cursor, 202);
      },
    },
  ];
}
