import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** A server that is started here and spoken to by its standard input and output, or one that is somewhere else. */
export type McpServerConfig = z.infer<typeof stdioServer> | z.infer<typeof httpServer>;

/** The servers of MCP by their names, which their tools' names begin with. */
export type McpConfig = { [server: string]: McpServerConfig };

/** Leaves room in the 64 characters of a tool's name, and cannot be taken for a part of one. */
const SERVER_NAME = /^(?!.*__)[a-zA-Z0-9_-]{1,24}$/;

const stdioServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Besides HOME, PATH and the like it is given no other variables. */
  env: z.record(z.string(), z.string()).default({}),
});

const httpServer = z.strictObject({
  type: z.enum(['http', 'streamable-http']).optional(),
  url: z.url({ protocol: /^https?$/, error: 'must be a URL with http or https' }),
  headers: z.record(z.string(), z.string()).default({}),
});

/** What others keep beside `mcpServers` in the same file is none of ours. */
const configFile = z.object({ mcpServers: z.record(z.string(), z.looseObject({})) });

/** `HOLDFAST_MCP_CONFIG` names a file that cannot be used. */
class McpConfigError extends Error {
  override readonly name = 'McpConfigError';
  /** Like a bad request it would come again, so that no step attempts it again. */
  readonly status = 400;

  constructor(file: string, why: string) {
    super(`The MCP configuration ${file} cannot be used: ${why}`);
  }
}

/**
 * Reads a file such as `{"mcpServers": {"files": {"command": "npx", "args": [...]}, "remote": {"url": "https://…"}}}`.
 *
 * @throws McpConfigError that names the file and what in it is wrong
 */
export async function readMcpConfig(file: string): Promise<McpConfig> {
  try {
    return parseMcpConfig(parseJson(await readFile(file, 'utf8')));
  } catch (error) {
    throw new McpConfigError(file, error instanceof Error ? error.message : String(error));
  }
}

/** @throws Error without the words of `JSON.parse`, which quote the file: there are keys in it */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, position] = /^[^"]* in JSON at position (\d+)/.exec(String(error)) ?? [];
    throw new Error(position === undefined ? 'it is not JSON.' : `it is not JSON, at position ${position}.`);
  }
}

/** @throws Error naming each place that is wrong */
export function parseMcpConfig(value: unknown): McpConfig {
  const { mcpServers } = parsed(configFile, value, '');
  return Object.fromEntries(
    Object.entries(mcpServers).map(([name, server]) => {
      if (!SERVER_NAME.test(name)) {
        throw new Error(
          `a server's name is letters, digits, "-" and single "_", at most 24; not ${JSON.stringify(name)}`,
        );
      }
      const place = `mcpServers.${name}`;
      if ('command' in server === 'url' in server)
        throw new Error(`${place} must have a "command" or a "url", and not both`);
      return [name, 'command' in server ? parsed(stdioServer, server, place) : parsed(httpServer, server, place)];
    }),
  );
}

function parsed<T>(schema: z.ZodType<T>, value: unknown, place: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    ({ path, message }) => `${[place, ...path].filter(Boolean).join('.')}: ${message}`,
  );
  throw new Error(faults.join('; '));
}
