import type { Context } from 'hono';
import { z } from 'zod';
import { type ErrorCode, HoldfastError } from '../model/error.ts';
import { questionSchema } from '../model/question.ts';
import { taskSchema } from '../model/task.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** The status and title of every code. @see docs/protocol.md §9 */
const PROBLEMS = {
  invalid_request: { status: 400, title: 'The request is malformed' },
  unauthorized: { status: 401, title: 'Who you are is not known' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  task_finished: { status: 409, title: 'The task has ended' },
  question_resolved: { status: 409, title: 'The question is resolved' },
  conversation_busy: { status: 409, title: 'A turn of the conversation is unfinished' },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is still running' },
  cursor_gone: { status: 410, title: 'The cursor cannot be served' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  invalid_input: { status: 422, title: 'The input is invalid' },
  unknown_agent: { status: 422, title: 'Unknown agent' },
  invalid_answer: { status: 422, title: 'The answer is invalid' },
  idempotency_mismatch: { status: 422, title: 'The key belongs to another request' },
  rate_limited: { status: 429, title: 'Too many' },
  internal: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'Overloaded' },
  draining: { status: 503, title: 'The server is stopping' },
  storage_full: { status: 503, title: 'The storage is full' },
  storage_unavailable: { status: 503, title: 'The storage cannot be reached' },
} as const satisfies Record<ErrorCode, { status: number; title: string }>;

/** When it is worth while to ask again, in seconds, where the refusal does not know it better. */
const RETRY_AFTER: Partial<Record<ErrorCode, number>> = {
  idempotency_in_progress: 1,
  rate_limited: 1,
  overloaded: 1,
  draining: 5,
  storage_full: 30,
  storage_unavailable: 5,
};
/** Up to so many seconds more, so that those who were refused together do not all come back together. */
const RETRY_SPREAD: Partial<Record<ErrorCode, number>> = { overloaded: 4 };

/** The wire form of an error: RFC 9457. @see docs/protocol.md §2 */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  question: questionSchema.optional(),
  task: taskSchema.optional(),
  reason: z.enum(['expired', 'unknown', 'ahead']).optional(),
  resumeAfter: z.string().optional(),
  retryAfter: z.int().optional(),
});

export function statusOf(code: ErrorCode): (typeof PROBLEMS)[ErrorCode]['status'] {
  return PROBLEMS[code].status;
}

/** The text of an error's response. @param status differs from the code's own only where HTTP itself was broken */
export function problemText(error: HoldfastError, status: number = statusOf(error.code)): string {
  const { code, message: detail, details } = error;
  const { title } = PROBLEMS[code];
  const problem: z.infer<typeof problemSchema> = {
    type: `urn:holdfast:problem:${code}`,
    title,
    status,
    detail,
    code,
    ...details,
  };
  return JSON.stringify(problem);
}

export function problemHeaders({ code, details }: HoldfastError): Record<string, string> {
  const seconds = details.retryAfter ?? retryAfter(code);
  return {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...SECURITY_HEADERS,
    ...(seconds === undefined ? {} : { 'Retry-After': `${seconds}` }),
    ...(code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

/** When it is worth while to ask again, in seconds; undefined when it is at once, or never. */
export function retryAfter(code: ErrorCode): number | undefined {
  const seconds = RETRY_AFTER[code];
  return seconds === undefined ? undefined : seconds + Math.floor(Math.random() * ((RETRY_SPREAD[code] ?? 0) + 1));
}

export function sendProblem(c: Context, error: HoldfastError): Response {
  return c.body(problemText(error), statusOf(error.code), problemHeaders(error));
}

/** What a client is told of an error that nobody foresaw: that there was one. */
export function internalError(): HoldfastError {
  return new HoldfastError('internal', 'Something went wrong on the server. The request id finds it in the log.');
}
