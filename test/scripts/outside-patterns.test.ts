import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = path.join(import.meta.dirname, '../../src');
/** What makes code, or a pattern that may run for ever, of text: JSON Schemas hold patterns, too. */
const OF_TEXT = /\bRegExp\s*\(|\bnew Function\b|\bfromJSONSchema\b/;

/** Where the text is our own: the paths of routes. */
const OF_OUR_OWN = ['http/early-refusal.ts'];

test('no regular expression is made of text, which might come from outside', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));

  const found = files.filter((name) => OF_TEXT.test(readFileSync(path.join(SOURCE, name), 'utf8')));

  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual(OF_OUR_OWN);
});
