import { expect, test } from 'vitest';
import { resultText } from '../../src/agents/mcp-result.ts';

test('shows texts, and names what is none', () => {
  const text = resultText({
    content: [
      { type: 'text', text: 'Look:' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'bb' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA' } },
    ],
  });

  expect(text).toBe(
    'Look:\n(a picture, image/png, which is not shown here)\na: file:///a\nfile:///b:\nbb\n(the file file:///c)',
  );
});

test('shows structured content where there is no other', () => {
  expect(resultText({ content: [], structuredContent: { a: 1 } })).toBe('{"a":1}');
  expect(resultText({ toolResult: 'old' })).toBe('"old"');
});

test('throws what a tool says of its failure', () => {
  expect(() => resultText({ content: [{ type: 'text', text: 'no such file' }], isError: true })).toThrow(
    /^no such file$/,
  );
  expect(() => resultText({ content: [], isError: true })).toThrow('does not say why');
});

test('cuts what is too long for a model, and says so', () => {
  const text = resultText({ content: [{ type: 'text', text: 'a'.repeat(60_000) }] });

  expect(text).toBe(`${'a'.repeat(50_000)}\n\n(It is longer: these are its first 50000 characters.)`);
});
