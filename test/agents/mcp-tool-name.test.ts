import { expect, test } from 'vitest';
import { mcpToolName } from '../../src/agents/mcp-tool-name.ts';

test('puts the name of the server first', () => {
  expect(mcpToolName('files', 'read_file')).toBe('files__read_file');
});

test.each([
  ['files.read', 'files/read'],
  ['ä', 'ö'],
  [`${'x'.repeat(60)}1`, `${'x'.repeat(60)}2`],
])('makes names that models take of "%s" and "%s", and tells them apart', (one, other) => {
  const names = [mcpToolName('server', one), mcpToolName('server', other)];

  expect(names).toEqual([
    expect.stringMatching(/^server__[\w-]{1,56}$/),
    expect.stringMatching(/^server__[\w-]{1,56}$/),
  ]);
  expect(names[0]).not.toBe(names[1]);
  expect(mcpToolName('server', one)).toBe(names[0]);
});
