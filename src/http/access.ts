import { setCookie } from 'hono/cookie';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import type { Conversations } from '../engine/conversations.ts';
import type { Tasks } from '../engine/tasks.ts';
import { ACCESS_MODES, SCOPES } from '../model/access.ts';
import { HoldfastError } from '../model/error.ts';
import { isId } from '../model/id.ts';
import { plainText, readBody } from './body.ts';
import { SESSION_COOKIE } from './gate.ts';
import { type HttpContext, type Operation, ownerOf, ref, sendJson } from './operation.ts';
import { noQuery, readQuery } from './query.ts';
import { siteOf } from './site.ts';

export interface AccessDependencies {
  access: Pick<Access, 'mode' | 'grantTicket' | 'grantSession' | 'endSession'>;
  tasks: Pick<Tasks, 'record'>;
  conversations: Pick<Conversations, 'record'>;
}

const MAX_TICKET_MS = 10 * 60_000;
const DEFAULT_TICKET_MS = 60_000;

const ticketBody = {
  schema: z.strictObject({
    taskId: plainText.nullable().default(null),
    conversationId: plainText.nullable().default(null),
    ttlMs: z.int().min(1000).max(MAX_TICKET_MS).default(DEFAULT_TICKET_MS),
  }),
  required: false,
};

const emptyBody = { schema: z.strictObject({}), required: false };

/** The wire form of a ticket. @see docs/protocol.md §11 */
export const ticketSchema = z.object({
  ticket: z.string(),
  taskId: z.string().nullable(),
  conversationId: z.string().nullable(),
  /** Until when it opens its first stream. */
  expiresAt: z.iso.datetime(),
});

/** Who asks, as they may know it. */
export const sessionSchema = z.object({
  owner: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  authentication: z.enum(ACCESS_MODES),
  /** When it ends by itself; null for never. */
  expiresAt: z.iso.datetime().nullable(),
});

/** What stands for a token where it cannot be sent. @see docs/protocol.md §11 */
export function accessOperations({ access, tasks, conversations }: AccessDependencies): Operation[] {
  function showSession(c: HttpContext): z.infer<typeof sessionSchema> {
    const { owner, scopes, expiresAt } = c.get('principal');
    return {
      owner,
      scopes: [...scopes],
      authentication: access.mode,
      expiresAt: expiresAt === null ? null : iso(expiresAt),
    };
  }

  return [
    {
      id: 'createTicket',
      method: 'post',
      path: '/v1/tickets',
      access: 'tasks:read',
      summary: 'Gives a ticket that opens event streams, for browsers',
      body: ticketBody,
      answers: { 201: { description: 'The ticket, for `?ticket=` of streams.', schema: ref('Ticket') } },
      errors: ['invalid_request', 'not_found', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        const { body } = await readBody(c, ticketBody);
        readQuery(c, noQuery);
        const { ttlMs, ...subject } = body;
        const { taskId, conversationId } = subject;
        if (taskId !== null && conversationId !== null) throw bothNamed();
        if (taskId !== null) await tasks.record(ownerOf(c), known('task', taskId));
        if (conversationId !== null) await conversations.record(ownerOf(c), known('conv', conversationId));
        const { secret, expiresAt } = await access.grantTicket(c.get('principal'), subject, ttlMs);
        const ticket: z.infer<typeof ticketSchema> = { ticket: secret, ...subject, expiresAt: iso(expiresAt) };
        return sendJson(c, ticket, 201);
      },
    },
    {
      id: 'getSession',
      method: 'get',
      path: '/v1/session',
      access: 'signed-in',
      summary: 'Tells who asks',
      answers: { 200: { description: 'The owner, and what may be done.', schema: ref('Session') } },
      errors: ['invalid_request'],
      handle(c) {
        readQuery(c, noQuery);
        return sendJson(c, showSession(c));
      },
    },
    {
      id: 'createSession',
      method: 'post',
      path: '/v1/session',
      access: 'signed-in',
      summary: 'Signs a browser in: gives a cookie for the token that was sent',
      body: emptyBody,
      answers: { 200: { description: 'Signed in, for 12 hours at most.', schema: ref('Session') } },
      errors: ['storage_full', 'storage_unavailable'],
      async handle(c) {
        await readBody(c, emptyBody);
        readQuery(c, noQuery);
        refuseElsewhere(c);
        const principal = c.get('principal');
        // Who has a session keeps that one: each ends by itself when somebody signs out of it.
        if (access.mode !== 'none' && principal.credential.kind !== 'grant') {
          const { secret, expiresAt } = await access.grantSession(principal);
          writeCookie(c, secret, Math.ceil((expiresAt - Date.now()) / 1000));
        }
        return sendJson(c, showSession(c));
      },
    },
    {
      id: 'deleteSession',
      method: 'delete',
      path: '/v1/session',
      access: 'signed-in',
      summary: 'Signs a browser out',
      answers: { 204: { description: 'Signed out.' } },
      errors: ['invalid_request', 'storage_full', 'storage_unavailable'],
      async handle(c) {
        readQuery(c, noQuery);
        // First, so that this browser forgets it even where the server cannot.
        writeCookie(c, '', 0);
        await access.endSession(c.get('principal'));
        return c.body(null, 204);
      },
    },
  ];
}

function writeCookie(c: HttpContext, value: string, maxAge: number): void {
  setCookie(c, SESSION_COOKIE, value, { prefix: 'host', httpOnly: true, sameSite: 'Strict', maxAge });
}

/** A page of another origin, though it be allowed, is not to sign a browser in here as whom it likes. */
function refuseElsewhere(c: HttpContext): void {
  const site = siteOf(c, []);
  if (site === 'foreign') throw new HoldfastError('forbidden', 'A session is for pages of this server.');
}

function known(prefix: 'task' | 'conv', id: string): string {
  if (!isId(prefix, id)) throw new HoldfastError('not_found', 'There is nothing by this id.');
  return id;
}

function bothNamed(): HoldfastError {
  const message = 'Name a task or a conversation, not both.';
  return new HoldfastError('invalid_request', message, { errors: [{ path: '/conversationId', message }] });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
