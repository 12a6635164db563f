import { z } from 'zod';
import { HoldfastError } from '../model/error.ts';
import { type Json, type JsonObject, utf8Bytes } from '../model/json.ts';
import { invalid, plainly } from './issues.ts';
import type { HttpContext } from './operation.ts';
import { JsonFault, parseStrictJson } from './strict-json.ts';

const DEFAULT_MAX_BODY_BYTES = 256 * 1024;

/** Any JSON value. Taken as it came, so that every key and every character of it survives. */
export const anyJson = z.custom<Json>((value) => value !== undefined, 'A value is required.');

export const anyJsonObject = z
  .custom<JsonObject>(isJsonObject, 'Invalid input: expected object')
  .meta({ type: 'object', additionalProperties: true });

const MAX_METADATA_BYTES = 16 * 1024;

/** What clients keep beside their things, for themselves. */
export const metadata = anyJsonObject.refine(
  (given) => utf8Bytes(JSON.stringify(given)) <= MAX_METADATA_BYTES,
  'Metadata may have 16 KiB of JSON.',
);

/** Text that goes into a column of its own, where neither NUL nor half a surrogate pair can be kept. */
export const plainText = z
  .string()
  .refine((text) => !/[\0\p{Surrogate}]/u.test(text), 'No NUL and no lone surrogate is allowed here.');

interface Body<T> {
  /** What the schema made of it. */
  body: T;
  /** As it was sent; `{}` for an optional body that was not. */
  json: Json;
}

/**
 * Reads and checks the body of a request, in the order of the protocol: its media type, its size, its form.
 *
 * @throws HoldfastError `unsupported_media_type`, `payload_too_large`, `invalid_request`
 * @see docs/protocol.md §2
 */
export async function readBody<Schema extends z.ZodType>(
  c: HttpContext,
  { schema, required, maxBytes = DEFAULT_MAX_BODY_BYTES }: { schema: Schema; required: boolean; maxBytes?: number },
): Promise<Body<z.output<Schema>>> {
  const type = c.req.header('Content-Type');
  if (type !== undefined && !isJsonType(type)) {
    throw new HoldfastError('unsupported_media_type', 'Send application/json, in UTF-8.');
  }
  if (!/^(identity)?$/i.test(c.req.header('Content-Encoding') ?? '')) {
    throw new HoldfastError('unsupported_media_type', 'Send the body without a content encoding.');
  }
  const bytes =
    type === undefined ? await readBytes(c, 0, untyped) : await readBytes(c, maxBytes, () => tooLarge(maxBytes));
  const json = bytes.length === 0 && !required ? {} : parseJson(bytes);
  const parsed = schema.safeParse(json, { error: plainly });
  if (!parsed.success) throw invalid('body', parsed.error);
  return { body: parsed.data, json };
}

/**
 * Reads at most `limit` bytes, however the body is framed. A declared length is kept by Node's parser, and such a body
 * comes at a third of the cost; any other is counted as it arrives.
 */
async function readBytes(c: HttpContext, limit: number, refusal: () => HoldfastError): Promise<Buffer> {
  const declared = c.req.header('Content-Length');
  if (declared !== undefined) {
    if (Number(declared) > limit) throw refusal();
    return Buffer.from(await c.req.raw.arrayBuffer().catch(cutOff));
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = c.req.raw.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch(cutOff);
    if (done) break;
    size += value.byteLength;
    if (size > limit) throw refusal();
    chunks.push(value);
  }
  return Buffer.concat(chunks, size);
}

function cutOff(): never {
  throw new HoldfastError('invalid_request', 'The body ended before it was complete.');
}

function untyped(): HoldfastError {
  return new HoldfastError('unsupported_media_type', 'The Content-Type is missing: send application/json.');
}

function tooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError('payload_too_large', `A body may have ${maxBytes} bytes.`);
}

/** `application/json`, with no other charset than UTF-8; further parameters do not matter. */
function isJsonType(contentType: string): boolean {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
}

function parseJson(bytes: Uint8Array): Json {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { message } = error;
    throw new HoldfastError('invalid_request', message, { errors: [{ path: '', message }] });
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
