import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { ToolContext } from '../../src/agents/tool.ts';

const given = {
  name: 'send_mail',
  description: 'Sends a mail.',
  input: z.object({ to: z.string(), copies: z.int().min(1).default(1) }),
  run: (): unknown => 'sent',
};

const context: ToolContext = {
  toolCallId: 'call_1',
  idempotencyKey: 'key',
  attempt: 1,
  signal: new AbortController().signal,
  emit: async () => {},
  progress: async () => {},
};

describe('defineTool', () => {
  test('shows the model what it may send, as JSON Schema of an object', () => {
    const tool = defineTool(given);

    expect(tool).toMatchObject({ kind: 'tool', name: 'send_mail', description: 'Sends a mail.', once: false });
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { to: { type: 'string' }, copies: { type: 'integer', minimum: 1, default: 1 } },
      required: ['to'],
    });
    expect(tool.inputSchema).not.toHaveProperty('$schema');
    expect(Object.isFrozen(tool)).toBe(true);
  });

  test('gives run the parsed input, typed, and the context', async () => {
    const tool = defineTool({
      ...given,
      run: ({ to, copies }, { toolCallId }) => [to.trim(), copies.toFixed(), toolCallId],
    });

    const parsed = await tool.parse({ to: ' me ' });

    expect(parsed).toEqual({ ok: true, input: { to: ' me ', copies: 1 } });
    if (parsed.ok) expect(await tool.run(parsed.input, context)).toEqual(['me', '1', 'call_1']);
  });

  test('says where an input is wrong', async () => {
    const parsed = await defineTool(given).parse({ to: 1, copies: 0 });

    expect(parsed.ok).toBe(false);
    expect(parsed).toMatchObject({ message: expect.stringMatching(/^to: .*string.*\ncopies: .*1$/) });
  });

  test('keeps `this` of a definition that is an instance', () => {
    class Counter {
      name = 'counter';
      description = 'Counts.';
      input = z.object({});
      count = 0;
      run(): number {
        return ++this.count;
      }
    }
    const counter = new Counter();

    defineTool(counter).run({}, context);

    expect(counter.count).toBe(1);
  });

  test.each([
    [undefined, false],
    [true, true],
    [({ to }: { to: string }) => to !== 'me', true],
    [async ({ to }: { to: string }) => to === 'me', false],
  ])('needs approval as it is told: %s', async (needsApproval, expected) => {
    const tool = defineTool({ ...given, ...(needsApproval !== undefined && { needsApproval }) });

    expect(await tool.needsApproval({ to: 'you', copies: 1 })).toBe(expected);
  });

  test.each(['', 'a b', 'a.b', 'grüße', 'a'.repeat(65)])('refuses the name "%s"', (name) => {
    expect(() => defineTool({ ...given, name })).toThrow(/^A tool's name is letters, digits/);
  });

  test.each([
    ['Tool "send_mail" needs a description', { description: ' ' }],
    ['needsApproval of tool "send_mail" must be', { needsApproval: JSON.parse('"yes"') }],
    ['timeoutMs of tool "send_mail" must be', { timeoutMs: 0 }],
    ['timeoutMs of tool "send_mail" must be', { timeoutMs: Number.NaN }],
    ['timeoutMs of tool "send_mail" must be', { timeoutMs: 2 ** 31 }],
    ['once of tool "send_mail" must be', { once: JSON.parse('1') }],
    ['Tool "send_mail" needs a function "run"', { run: JSON.parse('1') }],
    [
      'The input of tool "send_mail" will not do: It must be a Standard Schema',
      { input: JSON.parse('{"type":"object"}') },
    ],
    ['The input of tool "send_mail" will not do: It must be a Standard Schema', { input: JSON.parse('null') }],
    ['The input of tool "send_mail" will not do: Date cannot', { input: z.object({ at: z.date() }) }],
  ])('says the rule: %s', (rule, fields) => {
    const define = () => defineTool({ ...given, ...fields });

    expect(define).toThrow(TypeError);
    expect(define).toThrow(rule);
  });

  test('refuses an input that is no object', () => {
    const define = () => defineTool({ ...given, input: z.string() });

    expect(define).toThrow('The input of tool "send_mail" will not do: It must describe an object.');
  });
});
