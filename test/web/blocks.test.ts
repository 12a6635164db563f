import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Blocks, toBlocks } from '../../src/web/markdown/blocks.ts';

const PIECE = fc.constantFrom(
  ...[
    'word ',
    'another',
    '\n',
    '\n\n',
    '- item',
    '  - nested',
    '1. first',
    '> quote',
    '# Head',
    '```',
    '```ts\n',
    '    indented',
  ],
  ...[
    '**bold**',
    '`code`',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '---',
    '===',
    '<div>',
    '</div>',
    '[x](https://a.example)',
    '\t',
    '\\',
  ],
);

/** What a page that watched the text being written has in the end. */
function writtenBit(pieces: string[]): Blocks {
  let blocks: Blocks | null = null;
  let text = '';
  for (const piece of pieces) {
    text += piece;
    blocks = toBlocks(text, blocks);
  }
  return blocks ?? toBlocks('');
}

describe('blocks', () => {
  // What they hold may differ from the text in blanks at the ends of lines, never in length.
  test('cover the whole text', () => {
    fc.assert(
      fc.property(fc.array(PIECE, { maxLength: 40 }), (pieces) => {
        const { text, tokens } = toBlocks(pieces.join(''));

        expect(tokens.map(({ raw }) => raw).join('')).toHaveLength(text.length);
      }),
    );
  });

  // A line below a paragraph may turn it into a heading, and marked changes its mind about what is before that, too.
  test('are the same whether a text comes whole or bit by bit', () => {
    const piece = PIECE.filter((each) => each !== '---' && each !== '===');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(writtenBit(pieces).tokens).toEqual(toBlocks(pieces.join('')).tokens);
      }),
      { numRuns: 1000 },
    );
  });

  test('that can no longer change are the same objects as before', () => {
    const start = toBlocks('# Head\n\nOne.\n\nTwo.\n\nThree.\n\nFour.');

    const more = toBlocks('# Head\n\nOne.\n\nTwo.\n\nThree.\n\nFour. And more.', start);

    expect(more.tokens[0]).toBe(start.tokens[0]);
    expect(more.tokens[2]).toBe(start.tokens[2]);
    expect(more.tokens.at(-1)?.raw).toBe('Four. And more.');
  });

  test('begin anew when the text is another', () => {
    expect(toBlocks('Two.', toBlocks('One.')).tokens.map(({ raw }) => raw)).toEqual(['Two.']);
  });

  test('take lines as every system ends them', () => {
    expect(toBlocks('a\r\n\r\nb\rc').text).toBe('a\n\nb\nc');
  });

  test('show as plain text what nests deeper than can be taken apart', () => {
    const text = '>'.repeat(20_000);

    expect(
      toBlocks(text)
        .tokens.map(({ raw }) => raw)
        .join(''),
    ).toBe(text);
  });
});

test.each([
  ['marks in one paragraph beyond number', '*_[`'.repeat(2000)],
  ['quotes nested without end', '> '.repeat(2000)],
  ['a text of a megabyte', 'x'.repeat(1_000_000)],
])('shows %s as plain text', (_, text) => {
  expect(toBlocks(text).tokens).toEqual([{ type: 'text', raw: text, text }]);
});
