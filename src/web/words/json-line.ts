import type { Json } from '../../client/index.ts';

/**
 * JSON in one short line, for people: the only value of an object stands for it.
 *
 * @param maxLength where it is cut
 */
export function jsonLine(value: Json | object, maxLength: number): string {
  const line = textOf(value).replaceAll(/\s+/g, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`;
}

function textOf(value: Json | object): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && typeof only[1] !== 'object') return String(only[1]);
  return entries.map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`).join(', ');
}
