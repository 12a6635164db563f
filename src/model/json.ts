import stringify from 'safe-stable-stringify';

/** Any JSON value. `undefined`, functions and non-finite numbers are not JSON. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** How deep a request's body or an agent's output may nest. @see docs/protocol.md §2 */
export const MAX_JSON_DEPTH = 32;

/** True when arrays and objects in `value` nest deeper than `limit`. Never recurses further than that. */
export function isDeeperThan(value: Json, limit: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (limit === 0) return true;
  const children = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isDeeperThan(child, limit - 1));
}

/** The same text for equal JSON values, whatever the order of their keys. */
export function canonicalJson(value: Json): string {
  return stringify(value);
}

/** Bytes of `text` in UTF-8. A lone surrogate counts as the 3 bytes of U+FFFD that replace it. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isSurrogatePair(text, i)) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/** The longest start of `text` that fits in `maxBytes` of UTF-8, cut between code points. */
export function truncateUtf8(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const width = isSurrogatePair(text, end) ? 2 : 1;
    bytes += utf8Bytes(text.slice(end, end + width));
    if (bytes > maxBytes) return text.slice(0, end);
    end += width;
  }
  return text;
}

function isSurrogatePair(text: string, at: number): boolean {
  const high = text.charCodeAt(at);
  const low = text.charCodeAt(at + 1);
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}
