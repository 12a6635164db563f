/**
 * The JSON text of a value that an agent hands over; `undefined` becomes null. Like `JSON.stringify`, but what that would
 * lose without a word is an error.
 *
 * @throws TypeError naming what is not JSON
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, refuseLoss) ?? 'null';
}

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
