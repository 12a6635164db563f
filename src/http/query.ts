import { z } from 'zod';
import { invalid, plainly } from './issues.ts';
import type { HttpContext } from './operation.ts';

/**
 * A parameter that may be given once. `schema` sees its text, or a number where the text is one and `read` says so.
 * One that may repeat is a plain `z.array`.
 */
export function once<Schema extends z.ZodType>(schema: Schema, read: (text: string) => unknown = (text) => text) {
  return z.preprocess((values, context) => {
    if (!Array.isArray(values)) return values;
    if (values.length > 1) context.addIssue({ code: 'custom', message: 'This may be given only once.' });
    return read(String(values[0]));
  }, schema);
}

/** Reads `12` and `0.5`, and leaves `''`, `0x10`, `1e9` and ` 1` to be refused as text. */
export function decimal(text: string): number | string {
  return /^[0-9]{1,15}(\.[0-9]{1,15})?$/.test(text) ? Number(text) : text;
}

export const noQuery = z.strictObject({});

export const waitQuery = z.strictObject({
  wait: once(z.number().min(0).max(60).optional(), decimal).meta({ description: 'Seconds to wait at most.' }),
});

/**
 * Reads the query string against a strict object of {@link once} parameters and arrays.
 *
 * @throws HoldfastError `invalid_request` for what is unknown, repeated or out of bounds; paths name the parameter
 */
export function readQuery<Schema extends z.ZodType>(c: HttpContext, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(parameters(c.req.url), { error: plainly });
  if (!parsed.success) throw invalid('query', parsed.error);
  return parsed.data;
}

function parameters(url: string): Record<string, string[]> {
  const at = url.indexOf('?');
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : url.slice(at + 1))) {
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(found);
}
