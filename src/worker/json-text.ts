import { isDeeperThan, MAX_JSON_DEPTH } from '../model/json.ts';

/** Far over every bound that there is for a value, in code units of JSON: what is longer is not even written out. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * The JSON text of a value that an agent hands over; `undefined` becomes null. Like `JSON.stringify`, but what that would
 * lose without a word is an error.
 *
 * @throws TypeError naming what is not JSON, nests deeper than {@link MAX_JSON_DEPTH}, or is longer than
 *   {@link MAX_LENGTH}
 */
export function jsonText(value: unknown): string {
  if (isPlain(value, { left: MAX_LENGTH })) return JSON.stringify(value);
  const text = carefully(value);
  if (text === null || isDeeperThan(JSON.parse(text), MAX_JSON_DEPTH)) {
    throw new TypeError(`it may nest ${MAX_JSON_DEPTH} deep.`);
  }
  return text;
}

/** Null for what nests deeper than can be written at all. */
function carefully(value: unknown): string | null {
  const room = { left: MAX_LENGTH };
  function refuseLoss(key: string, each: unknown): unknown {
    const what = lossOf(each);
    if (what !== null) {
      throw new TypeError(key === '' ? `${what} is not JSON.` : `"${key}" is ${what}, which is not JSON.`);
    }
    room.left -= key.length + ownLength(each);
    if (room.left < 0) throw new TypeError(`it may hold ${MAX_LENGTH} characters of JSON.`);
    return each;
  }
  try {
    return JSON.stringify(value, refuseLoss) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * True for what loses nothing and is not too long: a replacer, which looks at each value, makes the writing several times
 * as slow.
 */
function isPlain(value: unknown, room: { left: number }, depth = 0): boolean {
  room.left -= ownLength(value);
  if (room.left < 0) return false;
  if (value === null) return true;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return depth < PLAIN_DEPTH && hasPlainForm(value) && areAllPlain(value, room, depth + 1);
    default:
      return false;
  }
}

function areAllPlain(value: object, room: { left: number }, depth: number): boolean {
  if (Array.isArray(value)) return value.every((each) => isPlain(each, room, depth));
  return Object.entries(value).every(([key, each]) => {
    room.left -= key.length;
    return isPlain(each, room, depth);
  });
}

/** An array or an object literal, not a class's; anything may have a `toJSON`. */
function hasPlainForm(value: object): boolean {
  if ('toJSON' in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

/** At least so long is the text of a value without what it holds. */
function ownLength(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 1;
}

/** Deeper ones, and those that go round in a circle, take the long way. */
const PLAIN_DEPTH = 8;

/** Objects that have what they are in places where JSON does not look, by what they call themselves. */
const HIDES_ITSELF =
  /^(Error|DOMException|RegExp|Promise|(Weak)?(Map|Set)|WeakRef|(Map|Set) Iterator|(Async)?Generator|(Shared)?ArrayBuffer|DataView|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)$/;

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
    case 'object': {
      const name = Object.prototype.toString.call(value).slice('[object '.length, -1);
      if (!HIDES_ITSELF.test(name)) return value instanceof Error ? 'an Error' : null;
      return `${/^[AEI]/.test(name) ? 'an' : 'a'} ${name}`;
    }
    default:
      return null;
  }
}
