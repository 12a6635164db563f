import { z } from 'zod';
import type { CreateTaskRequest, Tasks } from '../engine/tasks.ts';
import { AGENT_NAME } from '../model/agent-name.ts';
import { HoldfastError } from '../model/error.ts';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_TASK_TIMEOUT_MS, isSettled, TASK_STATUSES, type Task } from '../model/task.ts';
import { anyJson, metadata, plainText, readBody } from './body.ts';
import type { HeldOpen } from './held-open.ts';
import { markReplayed, readKey } from './idempotency.ts';
import { type HttpContext, type Operation, ownerOf, ref, sendRead } from './operation.ts';
import { pageOf, pageParameters, pageRange, toPage } from './paging.ts';
import { pathId } from './path-id.ts';
import { noQuery, once, readQuery, waitQuery } from './query.ts';
import { whileConnected } from './while-connected.ts';

const DAY_MS = 24 * 60 * 60_000;
const MAX_TIMEOUT_MS = 30 * DAY_MS;
const MAX_DELAY_DAYS = 365;
const MAX_ATTEMPTS = 100;
const UNFINISHED = ['queued', 'running', 'waiting'] as const;

const agentName = z.string().regex(AGENT_NAME);

/** Epoch ms. */
const runAt = z.iso
  .datetime({ offset: true, error: 'An ISO 8601 time with its offset is required, like 2026-11-30T12:00:00Z.' })
  .transform((text) => Date.parse(text))
  .refine((at) => at - Date.now() <= MAX_DELAY_DAYS * DAY_MS, `A task may wait for ${MAX_DELAY_DAYS} days at most.`);

const createBody = {
  schema: z.strictObject({
    agent: agentName,
    input: anyJson.default(null),
    metadata: metadata.default({}),
    timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TASK_TIMEOUT_MS),
    maxAttempts: z.int().min(1).max(MAX_ATTEMPTS).default(DEFAULT_MAX_ATTEMPTS),
    runAt: runAt.nullable().default(null),
    priority: z.int().min(-100).max(100).default(0),
    concurrencyKey: plainText.min(1).max(255).nullable().default(null),
    conversationId: plainText.nullable().default(null),
  }) satisfies z.ZodType<CreateTaskRequest>,
  required: true,
};

const cancelBody = {
  schema: z.strictObject({ reason: plainText.max(1000).nullable().default(null) }),
  required: false,
};

const retryBody = { schema: z.strictObject({}), required: false };

const listQuery = z.strictObject({
  status: z.array(z.enum([...TASK_STATUSES, 'unfinished'])).optional(),
  agent: once(agentName.optional()),
  conversationId: once(z.string().optional()),
  order: once(z.enum(['asc', 'desc']).default('desc')),
  ...pageParameters,
});

/** @see docs/protocol.md §4 */
export function taskOperations(tasks: Tasks, held: HeldOpen): Operation[] {
  /** Null when too many wait already. */
  async function settled(c: HttpContext, id: string, waitSeconds: number) {
    if (waitSeconds === 0) return tasks.get(ownerOf(c), id);
    c.set('untimed', true);
    const leave = held.enter(ownerOf(c), 'wait');
    if (leave === null) return null;
    try {
      return await whileConnected(c, (signal) => tasks.settled(ownerOf(c), id, waitSeconds * 1000, signal));
    } finally {
      leave();
    }
  }

  return [
    {
      id: 'createTask',
      method: 'post',
      path: '/v1/tasks',
      access: 'tasks:write',
      newWork: true,
      summary: 'Asks an agent for a piece of work',
      query: waitQuery,
      body: createBody,
      idempotent: true,
      answers: {
        200: { description: 'With `wait`: the task, which has ended or waits.', schema: ref('Task') },
        202: { description: 'The task is on disk; `Location` names it.', schema: ref('Task') },
      },
      errors: [
        'unknown_agent',
        'invalid_input',
        'rate_limited',
        'overloaded',
        'draining',
        'storage_full',
        'storage_unavailable',
      ],
      async handle(c) {
        const { body, json } = await readBody(c, createBody);
        const { wait } = readQuery(c, waitQuery);
        const created = await tasks.create(ownerOf(c), body, readKey(c, json));
        markReplayed(c, created);
        c.header('Location', `/v1/tasks/${created.task.id}`);
        if (wait === undefined) return sendRead(c, created.task, created.cursor, 202);
        // It is made, and that is said now when it cannot be waited for.
        const { task, cursor } = (await settled(c, created.task.id, wait)) ?? created;
        return sendRead(c, task, cursor, isSettled(task.status) ? 200 : 202);
      },
    },
    {
      id: 'listTasks',
      method: 'get',
      path: '/v1/tasks',
      access: 'tasks:read',
      summary: 'Lists tasks, newest first',
      query: listQuery,
      answers: { 200: { description: 'A page of tasks.', schema: pageOf(ref('Task')) } },
      errors: ['invalid_request'],
      async handle(c) {
        const { status, agent, conversationId, order, ...page } = readQuery(c, listQuery);
        const kind = `tasks ${order}`;
        const filter = {
          order,
          ...pageRange(page, kind, 'task'),
          ...(status !== undefined && { status: expand(status) }),
          ...(agent !== undefined && { agent }),
          ...(conversationId !== undefined && { conversationId }),
        };
        const { tasks: found, cursor } = await tasks.list(ownerOf(c), filter);
        return sendRead(c, toPage(found, page.limit, kind), cursor);
      },
    },
    {
      id: 'getTask',
      method: 'get',
      path: '/v1/tasks/{taskId}',
      access: 'tasks:read',
      summary: 'Shows a task, at once or when it has ended or waits',
      query: waitQuery,
      answers: { 200: { description: 'The task as it is now.', schema: ref('Task') } },
      errors: ['invalid_request', 'not_found', 'overloaded'],
      async handle(c) {
        const id = pathId(c, 'taskId', 'task');
        const found = await tasks.get(ownerOf(c), id);
        const { wait } = readQuery(c, waitQuery);
        const read = wait === undefined ? found : await settled(c, id, wait);
        if (read === null) throw new HoldfastError('overloaded', 'Too many requests wait already.');
        return sendRead(c, read.task, read.cursor);
      },
    },
    {
      id: 'cancelTask',
      method: 'post',
      path: '/v1/tasks/{taskId}/cancel',
      access: 'tasks:write',
      summary: 'Cancels a task with its questions and its children',
      body: cancelBody,
      idempotent: true,
      answers: { 200: { description: 'The task, cancelled now or before.', schema: ref('Task') } },
      errors: ['not_found', 'task_finished', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const id = pathId(c, 'taskId', 'task');
        await tasks.get(ownerOf(c), id);
        const { body, json } = await readBody(c, cancelBody);
        readQuery(c, noQuery);
        const cancelled = await tasks.cancel(ownerOf(c), id, body.reason, readKey(c, json));
        markReplayed(c, cancelled);
        return sendRead(c, cancelled.task, cancelled.cursor);
      },
    },
    {
      id: 'retryTask',
      method: 'post',
      path: '/v1/tasks/{taskId}/retry',
      access: 'tasks:write',
      newWork: true,
      summary: 'Starts a new task that goes on where a failed or cancelled one can',
      body: retryBody,
      idempotent: true,
      answers: { 202: { description: 'The new task is on disk; `Location` names it.', schema: ref('Task') } },
      errors: [
        'not_found',
        'task_finished',
        'rate_limited',
        'overloaded',
        'draining',
        'storage_full',
        'storage_unavailable',
      ],
      async handle(c) {
        const id = pathId(c, 'taskId', 'task');
        await tasks.get(ownerOf(c), id);
        const { json } = await readBody(c, retryBody);
        readQuery(c, noQuery);
        const retried = await tasks.retry(ownerOf(c), id, readKey(c, json));
        markReplayed(c, retried);
        c.header('Location', `/v1/tasks/${retried.task.id}`);
        return sendRead(c, retried.task, retried.cursor, 202);
      },
    },
  ];
}

function expand(statuses: readonly (Task['status'] | 'unfinished')[]): Task['status'][] {
  return [...new Set(statuses.flatMap((status) => (status === 'unfinished' ? UNFINISHED : status)))];
}
