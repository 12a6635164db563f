import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../src/client/index.ts';
import { schemaSample } from '../../src/web/tasks/schema-sample.ts';

test.each<[string, z.ZodType, Json]>([
  ['what is needed', z.object({ to: z.string(), grams: z.int().positive() }), { to: '', grams: 1 }],
  ['defaults', z.object({ city: z.string().default('Lisbon'), note: z.string().optional() }), { city: 'Lisbon' }],
  ['a list that must hold something', z.object({ guests: z.array(z.string()).min(1) }), { guests: [''] }],
  ['a list that may be empty', z.object({ guests: z.array(z.string()) }), { guests: [] }],
  ['the first of several', z.enum(['slow', 'fast']), 'slow'],
  ['the first of several forms', z.union([z.object({ id: z.number() }), z.string()]), { id: 0 }],
  ['a constant', z.object({ kind: z.literal('trip') }), { kind: 'trip' }],
  ['a bound', z.int().min(3), 3],
  ['a switch', z.boolean(), false],
])('begins with %s', (_what, schema, sample) => {
  expect(schemaSample(z.toJSONSchema(schema, { io: 'input' }) as Json)).toEqual(sample);
});

test('begins with nothing where an agent takes anything', () => {
  expect(schemaSample(undefined)).toBeNull();
});

test('ends where a schema holds itself', () => {
  const schema: { [key: string]: Json } = { type: 'object', required: ['child'] };
  schema.properties = { child: schema };

  expect(JSON.stringify(schemaSample(schema)).length).toBeLessThan(200);
});
