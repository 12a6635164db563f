import { isDeeperThan, type Json, MAX_JSON_DEPTH } from '../model/json.ts';

/** Text that is no JSON, or JSON that is not taken here. The message says why, for people. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Reads JSON that everybody reads alike: UTF-8 without a byte order mark (RFC 8259 §8.1), with no key twice in an object,
 * of which some take the first and some the last, nothing that nests deeper than {@link MAX_JSON_DEPTH}, and no number
 * that is too large for a double. `__proto__` is a key like any other.
 *
 * @throws JsonFault
 */
export function parseStrictJson(bytes: Uint8Array): Json {
  const { text, json } = parsed(bytes);
  // First, since what follows goes as deep as the value does.
  if (isDeeperThan(json, MAX_JSON_DEPTH)) throw new JsonFault(`Arrays and objects may nest ${MAX_JSON_DEPTH} deep.`);
  if (!isRepresentable(json)) throw new JsonFault('A number is too large.');
  if (keysWritten(text) !== keysKept(json)) throw new JsonFault('A key stands twice in an object.');
  return json;
}

function parsed(bytes: Uint8Array): { text: string; json: Json } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, json: JSON.parse(text) };
  } catch {
    throw new JsonFault(bytes.length === 0 ? 'A JSON body is required.' : 'The body is not JSON in UTF-8.');
  }
}

/** False where a number such as `1e999` was read, which `JSON.parse` makes infinite and nothing can write again. */
function isRepresentable(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value !== 'object' || Object.values(value).every(isRepresentable);
}

/** How many keys stand in a text that is JSON: the strings that a colon follows. */
function keysWritten(text: string): number {
  let keys = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    let at = endOfString(text, start) + 1;
    while (text.charCodeAt(at) <= 0x20) at++;
    if (text.charCodeAt(at) === COLON) keys++;
    start = text.indexOf('"', at);
  }
  return keys;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at;
}

function keysKept(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  const inner = Object.values(value).reduce((sum: number, child) => sum + keysKept(child), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}
