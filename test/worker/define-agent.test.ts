import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, isAgent } from '../../src/worker/define-agent.ts';
import { inputJsonSchema } from '../../src/worker/input-schema.ts';

const run = () => {};

describe('defineAgent', () => {
  test('fills in what was left out and lets nobody change it', () => {
    const agent = defineAgent({ name: 'trip-planner', run });

    expect(agent).toMatchObject({ name: 'trip-planner', version: '1', description: '' });
    expect(Object.isFrozen(agent)).toBe(true);
    expect(isAgent(agent)).toBe(true);
    expect(isAgent({ ...agent, name: 'copy' })).toBe(true);
    expect([{ name: 'a', run }, null, 'a', run].map(isAgent)).toEqual([false, false, false, false]);
  });

  test('gives the code the type of its input', () => {
    defineAgent({
      name: 'typed',
      input: z.object({ days: z.string().transform(Number) }),
      run: (task, input) => input.days.toFixed() + task.input.days.toFixed(),
    });
  });

  test.each(['', 'Trip', '1st', 'a b', 'a'.repeat(65)])('refuses the name "%s"', (name) => {
    expect(() => defineAgent({ name, run })).toThrow(/^An agent's name is lower-case letters/);
  });

  test.each([
    ['version', { version: '' }],
    ['description', { description: JSON.parse('1') }],
    ['input', { input: JSON.parse('{"type":"object"}') }],
    ['function', { run: JSON.parse('1') }],
  ])('refuses a wrong %s and names the agent', (what, fields) => {
    const define = () => defineAgent({ name: 'agent', run, ...fields });

    expect(define).toThrow(TypeError);
    expect(define).toThrow(new RegExp(`${what} of agent "agent"|"agent" needs a ${what}`));
  });
});

describe('the JSON Schema of an input', () => {
  test('describes what a client may send, not what the code gets', () => {
    const input = z.object({ city: z.string().default('Lisbon'), days: z.string().transform(Number) });

    expect(inputJsonSchema(defineAgent({ name: 'agent', input, run }))).toMatchObject({
      type: 'object',
      required: ['days'],
      properties: { city: { type: 'string', default: 'Lisbon' }, days: { type: 'string' } },
    });
  });

  test('is null without a schema, with one of another library, and where JSON Schema has no words for it', () => {
    const other = { '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) } } as const;

    expect(inputJsonSchema(defineAgent({ name: 'agent', run }))).toBeNull();
    expect(inputJsonSchema(defineAgent({ name: 'agent', input: other, run }))).toBeNull();
    expect(inputJsonSchema(defineAgent({ name: 'agent', input: z.date(), run }))).toBeNull();
  });
});
