import { parseStartPoint, type StartPoint } from '../model/cursor.ts';
import { HoldfastError } from '../model/error.ts';

/** Where a reader asks to begin, as it said it. */
export interface AskedStart {
  /** Null when it named no place. */
  point: StartPoint | null;
  /** The text it sent; `''` when it named no place. */
  text: string;
}

const MAX_TYPES = 20;
const TYPE_PATTERN = /^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*\.([a-z0-9_-]+|\*)$/;
const MAX_TYPE_LENGTH = 64;

/**
 * The place after which a reader asks to begin. The header wins, because a browser that reconnects keeps the old URL.
 *
 * @throws HoldfastError `invalid_request` for anything that is no cursor
 * @see docs/protocol.md §5.2
 */
export function askedStart(lastEventId: string | undefined, url: URLSearchParams): AskedStart {
  const text = lastEventId || url.get('after') || url.get('lastEventId') || '';
  if (text === '') return { point: null, text };
  const point = parseStartPoint(text);
  if (point === null) {
    const path = lastEventId ? 'Last-Event-ID' : '/after';
    throw new HoldfastError('invalid_request', 'That is not a cursor.', {
      errors: [{ path, message: 'Send a cursor as this server gave it, "0" or "latest".' }],
    });
  }
  return { point, text };
}

/**
 * The filter that `?types=` asks for; null passes everything.
 *
 * @throws HoldfastError `invalid_request` for more than 20, or a form that is neither exact nor `prefix.*`
 */
export function askedTypes(url: URLSearchParams): ((type: string) => boolean) | null {
  const given = url.getAll('types');
  if (given.length === 0) return null;
  const patterns = given.flatMap((list) => list.split(','));
  const isGood = (pattern: string) => pattern.length <= MAX_TYPE_LENGTH && TYPE_PATTERN.test(pattern);
  if (patterns.length > MAX_TYPES || !patterns.every(isGood)) {
    throw new HoldfastError('invalid_request', `"types" holds up to ${MAX_TYPES} event types.`, {
      errors: [{ path: '/types', message: 'Each is an event type or a prefix followed by ".*", separated by commas.' }],
    });
  }
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1));
  return (type) => exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix));
}

/** Whether `Accept` prefers JSON to an event stream; a tie, and a header that takes anything, mean the stream. @see docs/protocol.md §5.1 */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return quality(accept, 'application/json') > quality(accept, 'text/event-stream');
}

/** The quality that an `Accept` header gives to a media type by its most specific range; 0 when none covers it. */
function quality(accept: string, mediaType: string): number {
  const [kind] = mediaType.split('/');
  const ranges = [mediaType, `${kind}/*`, '*/*'];
  const weights = new Map<string, number>();
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : Number(given.slice(2));
    weights.set(range, Number.isFinite(weight) ? weight : 0);
  }
  const range = ranges.find((candidate) => weights.has(candidate));
  return range === undefined ? 0 : (weights.get(range) ?? 0);
}
