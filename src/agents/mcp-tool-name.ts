import { createHash } from 'node:crypto';
import { TOOL_NAME } from './define-tool.ts';

const MAX_LENGTH = 64;

/**
 * What a tool of an MCP server is called here: `files__read_file`. A name that models do not take is made one, and told
 * from others like it by a hash of what it was.
 */
export function mcpToolName(server: string, tool: string): string {
  const name = `${server}__${tool}`;
  if (TOOL_NAME.test(name)) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, 8);
  return `${name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_LENGTH - 9)}_${hash}`;
}
