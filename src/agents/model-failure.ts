/** Why a call of a model has failed for good. @see docs/agents.md */
export type ModelFailureCode =
  | 'model_misconfigured'
  | 'model_unauthorized'
  | 'model_quota_exhausted'
  | 'model_not_found'
  | 'model_rate_limited'
  | 'model_context_too_long'
  | 'model_request_refused'
  | 'model_unavailable'
  | 'model_interrupted'
  | 'model_idle'
  | 'model_bad_response'
  | 'model_error';

/** The code of the failure that fewer messages may mend. */
export const CONTEXT_TOO_LONG: ModelFailureCode = 'model_context_too_long';

/**
 * A call of a model has failed. The message begins with the code, since it is all that a task's error keeps, and says
 * what to do.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly code: ModelFailureCode;
  /** What of HTTP it is, or is like: the step that calls the model decides by it whether to call again. */
  readonly status?: number;
  /** What the server does not take, where that can be left out. */
  readonly refuses?: 'reasoning';
  /** For `Retry-After`. */
  readonly responseHeaders?: Record<string, string>;

  constructor(
    code: ModelFailureCode,
    text: string,
    {
      status,
      refuses,
      responseHeaders,
      cause,
    }: {
      status?: number;
      refuses?: 'reasoning';
      responseHeaders?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(`${code}: ${text}`, { cause });
    this.code = code;
    if (status !== undefined) this.status = status;
    if (refuses !== undefined) this.refuses = refuses;
    if (responseHeaders !== undefined) this.responseHeaders = responseHeaders;
  }
}

/** The model's server has accepted the request or was at work on the answer, and then sent nothing any more. */
export function idleFailure(idleMs: number): ModelFailure {
  return new ModelFailure(
    'model_idle',
    `The model's server sent nothing for ${idleMs} ms. Try again, or allow it more by HOLDFAST_MODEL_IDLE_MS.`,
  );
}

/**
 * What went wrong in a call of a model, from whatever its provider has thrown.
 *
 * @param phase whether the server was still being asked, or had begun to answer
 * @param key is blanked out in the server's words
 */
export function toModelFailure(error: unknown, phase: 'asking' | 'reading', key: string | null = null): ModelFailure {
  const said = saidOf(error, key);
  const status = statusOf(error);
  const words = wordsOf(error);
  const found = CASES.find(({ fits }) => fits({ error, status, words, phase }));
  const { code, text, as = status } = found ?? OTHERS[phase];
  const responseHeaders = headersOf(error);
  return new ModelFailure(code, said === '' ? text : `${text} It says: "${said}"`, {
    ...(as !== null && { status: as }),
    ...(status === 400 && REASONING.test(words) && { refuses: 'reasoning' }),
    ...(responseHeaders !== null && { responseHeaders }),
    // It is kept with the step.
    ...(!holdsKey(error, key) && { cause: error }),
  });
}

interface Fault {
  error: unknown;
  /** The HTTP status, also where a stream tells it behind its beginning. */
  status: number | null;
  /** All that the server or the provider says of it, its own codes included. */
  words: string;
  phase: 'asking' | 'reading';
}

interface Case {
  fits(fault: Fault): boolean;
  code: ModelFailureCode;
  text: string;
  /** The status to go by, where that of the error, or none, would have the step do the wrong thing. */
  as?: number;
}

const QUOTA = /insufficient_quota|insufficient (credits|balance)|exceeded your current quota|billing/i;
const REASONING = /reasoning/i;
const CONTEXT =
  /context[ _](length|window|size|limit)|(prompt|input|request|messages?) (is|are) too (long|large)|too many (input )?tokens|tokens? .{0,40}exceeds?\b|exceeds? .{0,40}(context|tokens)/i;

/** The first that fits. */
const CASES: readonly Case[] = [
  {
    fits: ({ status, words }) => status === 402 || (status === 429 && QUOTA.test(words)),
    code: 'model_quota_exhausted',
    text: "The account at the model's server has nothing left. Top it up, or use another key.",
    as: 402,
  },
  {
    fits: ({ status }) => status === 429,
    code: 'model_rate_limited',
    text: "The model's server takes no more requests for now. Try again later, or raise the limit there.",
  },
  {
    fits: ({ status, words }) => [null, 400, 413, 422, 500].includes(status) && CONTEXT.test(words),
    code: CONTEXT_TOO_LONG,
    text: 'There is more to read than the model can take. Begin a new conversation, let tools return less, or use a model with a larger context.',
    as: 400,
  },
  {
    fits: ({ status }) => status === 401 || status === 403,
    code: 'model_unauthorized',
    text: "The model's server does not accept the key. Check HOLDFAST_MODEL_KEY.",
  },
  {
    fits: ({ status }) => status === 404,
    code: 'model_not_found',
    text: 'There is no such model, or no API at this address. Check HOLDFAST_MODEL and HOLDFAST_MODEL_URL, which mostly ends in /v1.',
  },
  {
    fits: ({ status }) => status !== null && (status >= 500 || status === 408 || status === 425),
    code: 'model_unavailable',
    text: "The model's server has failed. Try again later.",
  },
  {
    fits: ({ status }) => status !== null && status >= 400,
    code: 'model_request_refused',
    text: "The model's server does not accept the request.",
  },
  {
    fits: ({ error, phase }) => phase === 'asking' && read(error, 'isRetryable') === true,
    code: 'model_unavailable',
    text: "The model's server cannot be reached. Check HOLDFAST_MODEL_URL, and whether it runs.",
  },
  {
    fits: ({ error }) => ['AI_JSONParseError', 'AI_TypeValidationError'].includes(String(read(error, 'name'))),
    code: 'model_bad_response',
    text: "The model's server answered with what cannot be read. Check HOLDFAST_MODEL_URL.",
  },
];

const OTHERS: Record<Fault['phase'], Omit<Case, 'fits'>> = {
  asking: { code: 'model_error', text: 'The model cannot be called.', as: 400 },
  reading: {
    code: 'model_interrupted',
    text: "The model's server broke off in the middle of its answer. Try again.",
  },
};

/** As much of it as helps. */
const MAX_SAID_LENGTH = 300;
/** As much of it as is searched. */
const MAX_WORDS_LENGTH = 4000;

function saidOf(error: unknown, key: string | null): string {
  const message = typeof error === 'string' ? error : read(error, 'message');
  if (typeof message !== 'string') return '';
  return (key === null ? message : message.replaceAll(key, '***')).trim().slice(0, MAX_SAID_LENGTH);
}

function wordsOf(error: unknown): string {
  const words = ['message', 'responseBody', 'code', 'type'].map((name) => read(error, name));
  return words
    .filter((word) => typeof word === 'string')
    .join(' ')
    .slice(0, MAX_WORDS_LENGTH);
}

function holdsKey(error: unknown, key: string | null): boolean {
  const texts = [error, read(error, 'message'), read(error, 'responseBody')];
  return key !== null && texts.some((text) => typeof text === 'string' && text.includes(key));
}

/** Some servers tell it in the middle of a stream, as the error's `code`. */
function statusOf(error: unknown): number | null {
  const found = [read(error, 'statusCode'), read(error, 'status'), Number(read(error, 'code'))].find(
    (status) => typeof status === 'number' && status >= 400 && status < 600,
  );
  return typeof found === 'number' ? found : null;
}

function headersOf(error: unknown): Record<string, string> | null {
  const headers = read(error, 'responseHeaders');
  if (typeof headers !== 'object' || headers === null) return null;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function read(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
