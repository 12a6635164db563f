import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonObject } from '../model/json.ts';
import type { ParsedInput } from './tool.ts';

const MAX_ISSUES = 10;

/** A Standard Schema that can also say its JSON Schema, as those of zod can. */
export type ToolInputSchema<Input> = StandardSchemaV1<unknown, Input> & StandardJSONSchemaV1<unknown, Input>;

/**
 * What a model is shown of a tool's input.
 *
 * @throws TypeError when it is not the JSON Schema of an object: models are given no other
 */
export function toolInputSchema(schema: ToolInputSchema<unknown>): JsonObject {
  const converter = schema?.['~standard']?.jsonSchema;
  if (typeof converter?.input !== 'function') {
    throw new TypeError('It must be a Standard Schema that knows its JSON Schema, for example one of zod.');
  }
  const { $schema: _dialect, ...shown } = JSON.parse(JSON.stringify(converter.input({ target: 'draft-07' })));
  if (shown.type !== 'object') throw new TypeError('It must describe an object.');
  return shown;
}

/** Parses what a model gave. What is wrong is told in words that it can mend its call by. */
export async function parseToolInput(schema: StandardSchemaV1, input: Json): Promise<ParsedInput> {
  const result = await schema['~standard'].validate(input);
  if (result.issues === undefined) return { ok: true, input: result.value };
  return { ok: false, message: result.issues.slice(0, MAX_ISSUES).map(describe).join('\n') };
}

function describe({ path = [], message }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`;
}
