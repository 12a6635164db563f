import type { Json } from '../model/json.ts';
import { cutText } from './cut-text.ts';

/** What is read of a JSON Schema to make up a value for it. */
interface SampledSchema {
  type?: unknown;
  enum?: Json[];
  const?: Json;
  default?: Json;
  minimum?: number;
  minItems?: number;
  maxLength?: number;
  items?: SampledSchema;
  properties?: { [name: string]: SampledSchema };
  required?: string[];
}

/**
 * Makes up a value that most likely fits a JSON Schema: only what is required, and `text` wherever a string is wanted.
 * It knows no references, formats and combinations.
 */
export function sampleOf(schema: SampledSchema, text: string): Json {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      return cutText(text, schema.maxLength ?? 1000);
    case 'number':
    case 'integer':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}, text));
    case 'object': {
      const { required = [], properties = {} } = schema;
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {}, text)]));
    }
    default:
      return null;
  }
}
