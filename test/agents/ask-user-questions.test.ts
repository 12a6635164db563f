import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askUserQuestions } from '../../src/agents/ask-user-questions.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { approvalOf, isApproved, refusalText } from '../../src/agents/question-tool.ts';
import type { AskSpec, Reply } from '../../src/model/agent.ts';
import { checkAnswers } from '../../src/model/answer.ts';
import { isDeeperThan, type Json, MAX_JSON_DEPTH, utf8Bytes } from '../../src/model/json.ts';
import { normalizeItems } from '../../src/model/question-spec.ts';

const month = {
  header: 'Month',
  prompt: 'When would you like to go?',
  options: [{ label: 'May', description: 'Mild' }, { label: 'June' }],
};
const wishes = { header: 'Wishes', prompt: 'What must it have?', options: month.options, multiSelect: true };
const notes = { header: 'Notes', prompt: 'Anything else?' };

async function parse(input: Json): Promise<unknown> {
  const parsed = await askUserQuestions.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.input;
}

async function told(questions: Json[], reply: Reply): Promise<Json> {
  const input = await parse({ questions });
  if (reply.status === 'answered') {
    expect(checkAnswers(normalizeItems(askUserQuestions.toAsk(input).items), reply.answers)).toEqual([]);
  }
  return askUserQuestions.toResult(reply, input);
}

function answered(answers: { [id: string]: Json }): Reply {
  return { status: 'answered', answers, resolvedBy: 'local' };
}

function promptOf({ items: [item] }: AskSpec): string {
  return item?.prompt ?? '';
}

describe('ask_user_questions', () => {
  test('becomes one question with an item for each', async () => {
    const input = await parse({ questions: [month, wishes, { ...notes, metadata: { icon: 'pen' } }] });

    const { items, metadata } = askUserQuestions.toAsk(input);

    expect(normalizeItems(items)).toMatchObject([
      {
        id: 'q1',
        type: 'choice',
        header: 'Month',
        options: [{ value: 'May', label: 'May', description: 'Mild' }, { value: 'June' }],
        multiple: false,
        allowOther: true,
        required: true,
      },
      { id: 'q2', type: 'choice', multiple: true },
      { id: 'q3', type: 'text', prompt: 'Anything else?' },
    ]);
    expect(metadata).toEqual({ q3: { icon: 'pen' } });
  });

  test('takes only the options where free text is off', async () => {
    const input = await parse({ questions: [{ ...month, freeText: false }] });
    const items = normalizeItems(askUserQuestions.toAsk(input).items);

    expect(checkAnswers(items, { q1: 'May' })).toEqual([]);
    expect(checkAnswers(items, { q1: 'July' })).toHaveLength(1);
  });

  test.each([
    ['no question', [], /questions: .*1/],
    ['five questions', Array(5).fill(notes), /questions: .*4/],
    ['two options that look the same', [{ ...month, options: [{ label: 'May' }, { label: 'May' }] }], /same label/],
    ['metadata that is too large', [{ ...notes, metadata: { a: 'x'.repeat(3100) } }], /At most 3 KiB/],
    ['a header that is too long', [{ ...notes, header: 'x'.repeat(81) }], /questions\.0\.header/],
  ])('refuses %s in words for the model', async (_what, questions: Json[], message) => {
    expect(await askUserQuestions.parse({ questions })).toMatchObject({
      ok: false,
      message: expect.stringMatching(message),
    });
  });

  test('is shown to models without references, which some of them do not follow', () => {
    expect(JSON.stringify(askUserQuestions.inputSchema)).not.toMatch(/\$ref|propertyNames/);
  });

  test('tells what was answered, and what of it are the words of the user', async () => {
    expect(await told([month, notes], answered({ q1: 'May', q2: 'A sea view' }))).toBe(
      'The user answered.\n\n1. When would you like to go?\nAnswer: May\n\n2. Anything else?\nAnswer: A sea view',
    );
    expect(await told([month], answered({ q1: 'in autumn' }))).toMatch(/Answer: in autumn \(their own words\)$/);
    expect(await told([wishes], answered({ q1: ['June', 'quiet'] }))).toMatch(/: June; quiet \(their own words\)$/);
    expect(await told([wishes], answered({ q1: [] }))).toMatch(/Answer: \(none of the options\)$/);
  });

  test('tells of a refusal with its reason', async () => {
    expect(await told([month], { status: 'declined', reason: 'too "early"' })).toContain(
      'declined to answer. Their reason: "too \\"early\\"".',
    );
    expect(await told([month], { status: 'declined', reason: null })).toContain('They gave no reason.');
  });

  test('does not take silence for an answer', async () => {
    expect(await told([month], { status: 'expired' })).toMatch(/Nobody answered in time.*neither consent nor a choice/);
    expect(await told([month], { status: 'withdrawn' })).toContain('There is no answer.');
  });
});

describe('an approval', () => {
  const input = z.object({ path: z.string() });
  const tool = defineTool({ name: 'delete_file', description: 'Deletes a file.', input, run: () => null });

  test('shows what the tool would do', () => {
    const spec = approvalOf(tool, { path: '/tmp/a' });

    expect(normalizeItems(spec.items)).toMatchObject([{ type: 'boolean', required: true, default: null }]);
    expect(promptOf(spec)).toBe('May delete_file run?\n\nDeletes a file.\n\n{\n  "path": "/tmp/a"\n}');
    expect(spec.metadata).toEqual({ approval: { tool: 'delete_file', input: { path: '/tmp/a' } } });
  });

  test('of a large input says that it does not show all of it', () => {
    const talkative = defineTool({
      ...tool,
      name: 'x'.repeat(64),
      description: 'y'.repeat(5000),
      input,
      run: () => null,
    });

    const spec = approvalOf(talkative, { path: 'z'.repeat(20_000) });

    expect(normalizeItems(spec.items)).toHaveLength(1);
    expect(promptOf(spec)).toMatch(/z… \(17016 more characters are not shown\)$/);
    expect(spec.metadata).toEqual({ approval: { tool: talkative.name, input: null } });
  });

  test.each([
    ['bytes', { path: '€'.repeat(5000) }],
    ['depth', nested(31)],
  ])('fits into the metadata of a question by its %s', (_what, large) => {
    const { metadata = {} } = approvalOf(tool, large);

    expect(utf8Bytes(JSON.stringify(metadata))).toBeLessThanOrEqual(16 * 1024);
    expect(isDeeperThan(metadata, MAX_JSON_DEPTH)).toBe(false);
  });

  test.each<[boolean, Reply, RegExp]>([
    [true, answered({ approved: true }), /./],
    [false, answered({ approved: false }), /did not allow this call/],
    [false, answered({}), /did not allow this call/],
    [false, { status: 'declined', reason: 'not today' }, /Their reason: "not today"/],
    [false, { status: 'expired' }, /no consent/],
    [false, { status: 'withdrawn' }, /withdrawn/],
  ])('is %s for %j', (approved, reply, refusal) => {
    expect(isApproved(reply)).toBe(approved);
    if (!approved) expect(refusalText(reply)).toMatch(new RegExp(`${refusal.source}.*The call was not made\\.$`));
  });
});

function nested(depth: number): Json {
  return depth === 0 ? 0 : { in: nested(depth - 1) };
}
