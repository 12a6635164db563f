import type { Json, JsonObject } from '../../client/index.ts';

const MAX_DEPTH = 6;

/** A value to begin with, of the form that a JSON Schema asks for. What it leaves open is empty. */
export function schemaSample(schema: Json | undefined, depth = 0): Json {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  for (const list of [schema.examples, schema.enum]) if (Array.isArray(list) && list[0] !== undefined) return list[0];
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(list)) return schemaSample(list[0], depth + 1);
  }
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return objectSample(schema, depth);
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? [schemaSample(schema.items, depth + 1)] : [];
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : exclusive(schema.exclusiveMinimum);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function objectSample({ properties, required }: JsonObject, depth: number): JsonObject {
  if (!isObject(properties)) return {};
  const isNeeded = (name: string, property: Json) =>
    (Array.isArray(required) && required.includes(name)) || (isObject(property) && property.default !== undefined);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, property]) => isNeeded(name, property))
      .map(([name, property]) => [name, schemaSample(property, depth + 1)]),
  );
}

function exclusive(minimum: Json | undefined): number {
  return typeof minimum === 'number' ? minimum + 1 : 0;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
