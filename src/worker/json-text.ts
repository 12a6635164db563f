import { isDeeperThan, MAX_JSON_DEPTH } from '../model/json.ts';

/**
 * The JSON text of a value that an agent hands over; `undefined` becomes null. Like `JSON.stringify`, but what that would
 * lose without a word is an error.
 *
 * @throws TypeError naming what is not JSON, or nests deeper than {@link MAX_JSON_DEPTH}
 */
export function jsonText(value: unknown): string {
  if (isPlain(value)) return JSON.stringify(value);
  const text = carefully(value);
  if (text === null || isDeeperThan(JSON.parse(text), MAX_JSON_DEPTH)) {
    throw new TypeError(`it may nest ${MAX_JSON_DEPTH} deep.`);
  }
  return text;
}

/** Null for what nests deeper than can be written at all. */
function carefully(value: unknown): string | null {
  try {
    return JSON.stringify(value, refuseLoss) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** True for what loses nothing: a replacer, which looks at each value, makes the writing several times as slow. */
function isPlain(value: unknown, depth = 0): boolean {
  if (value === null) return true;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return (
        depth < PLAIN_DEPTH && hasPlainForm(value) && Object.values(value).every((each) => isPlain(each, depth + 1))
      );
    default:
      return false;
  }
}

/** An array or an object literal, not a class's, which may have a `toJSON`. */
function hasPlainForm(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}

/** Deeper ones, and those that go round in a circle, take the long way. */
const PLAIN_DEPTH = 8;

function refuseLoss(key: string, value: unknown): unknown {
  const what = lossOf(value);
  if (what === null) return value;
  throw new TypeError(key === '' ? `${what} is not JSON.` : `"${key}" is ${what}, which is not JSON.`);
}

function lossOf(value: unknown): string | null {
  switch (typeof value) {
    case 'bigint':
      return 'a bigint';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'number':
      return Number.isFinite(value) ? null : String(value);
    default:
      return value instanceof Map || value instanceof Set ? `a ${value.constructor.name}` : null;
  }
}
