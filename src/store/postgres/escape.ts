/**
 * PostgreSQL keeps neither U+0000 nor half a surrogate pair. In text that anybody may have written they stand as U+0001 and
 * four hexadecimal digits, and so does U+0001: what comes back is what went in. JSON needs none of it, which spells them out
 * by itself.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the two that are meant
const UNKEEPABLE = /[\0\u0001\p{Surrogate}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark of what is escaped
const KEPT = /\u0001([0-9a-f]{4})/g;

/** Text as it is stored. Two that differ do so there as well. */
export function toText<T extends string | null>(text: T): T | string {
  if (text === null || text.search(UNKEEPABLE) < 0) return text;
  return text.replace(UNKEEPABLE, (unit) => `\u0001${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text that is stored so. */
export function fromText<T extends string | null>(stored: T): T | string {
  if (stored === null || !stored.includes('\u0001')) return stored;
  return stored.replace(KEPT, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}
