import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseMcpConfig, readMcpConfig } from '../../src/agents/mcp-config.ts';

test('takes what others write for their clients', () => {
  const mcpServers = {
    files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'], env: { DEBUG: '1' } },
    bare: { type: 'stdio', command: 'my-server' },
    remote: { type: 'http', url: 'https://example.com/mcp', headers: { authorization: 'Bearer x' } },
  };

  expect(parseMcpConfig({ mcpServers, globalShortcut: 'Ctrl+Space' })).toEqual({
    files: mcpServers.files,
    bare: { type: 'stdio', command: 'my-server', args: [], env: {} },
    remote: mcpServers.remote,
  });
});

test.each<[string, unknown]>([
  ['mcpServers: ', {}],
  ['mcpServers.files: ', { mcpServers: { files: 'npx' } }],
  ['mcpServers.files must have a "command" or a "url", and not both', { mcpServers: { files: {} } }],
  [
    'mcpServers.files must have a "command" or a "url", and not both',
    { mcpServers: { files: { command: 'a', url: 'https://b.c' } } },
  ],
  ['mcpServers.files.args: ', { mcpServers: { files: { command: 'a', args: '-y' } } }],
  ['mcpServers.files.env.PORT: ', { mcpServers: { files: { command: 'a', env: { PORT: 1 } } } }],
  ['mcpServers.files.url: must be a URL', { mcpServers: { files: { url: 'ftp://a.b' } } }],
  ['mcpServers.files.type: ', { mcpServers: { files: { url: 'https://a.b', type: 'sse' } } }],
  ['mcpServers.files: Unrecognized key: "disabled"', { mcpServers: { files: { command: 'a', disabled: true } } }],
  ['not "my files"', { mcpServers: { 'my files': { command: 'a' } } }],
  ['not "my__files"', { mcpServers: { my__files: { command: 'a' } } }],
  ['not "aaaaaaaaaaaaaaaaaaaaaaaaa"', { mcpServers: { ['a'.repeat(25)]: { command: 'a' } } }],
])('says %s', (message, value) => {
  expect(() => parseMcpConfig(value)).toThrow(message);
});

test('names the file that it cannot use', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mcp.json');
  writeFileSync(file, '{"mcpServers": ');

  await expect(readMcpConfig(file)).rejects.toThrow(`The MCP configuration ${file} cannot be used: it is not JSON.`);
  await expect(readMcpConfig(`${file}.not`)).rejects.toThrow(/mcp\.json\.not cannot be used: ENOENT/);
});

test.each([
  ['{"headers": {"authorization": Bearer-s3cret}}', 'it is not JSON.'],
  ['{"authorization": "s3cret" "at position 7"}', 'it is not JSON, at position 27.'],
])('quotes nothing of the file %s, which holds keys', async (text, why) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'mcp.json');
  writeFileSync(file, text);

  await expect(readMcpConfig(file)).rejects.toThrow(
    expect.objectContaining({ message: `The MCP configuration ${file} cannot be used: ${why}` }),
  );
});
