import type { Json, JsonObject } from '../model/json.ts';
import { type McpConfig, readMcpConfig } from './mcp-config.ts';
import type { McpToolDefinition } from './mcp-connection.ts';
import { resultText } from './mcp-result.ts';
import { McpServer } from './mcp-server.ts';
import { mcpToolName } from './mcp-tool-name.ts';
import type { ParsedInput, Tool } from './tool.ts';

/** How long one call may take. */
const CALL_TIMEOUT_MS = 120_000;

const NEVER = new AbortController().signal;

let ofThread: Promise<McpTools> | null = null;

/**
 * The tools of the servers that `HOLDFAST_MCP_CONFIG` names, under `server__tool`. The tasks of a thread share the servers,
 * which are started when this is first called. They end with the thread: its pipes close, by which an MCP server knows
 * that it is to end. In place of a server that cannot be used there is a tool that says so.
 *
 * @throws McpConfigError when the file cannot be read or is wrong; it is read again the next time
 */
export async function mcpTools(signal: AbortSignal = NEVER): Promise<Tool[]> {
  ofThread ??= openConfigured().catch((error) => {
    ofThread = null;
    throw error;
  });
  return (await ofThread).list(signal);
}

async function openConfigured(): Promise<McpTools> {
  // biome-ignore lint/style/noProcessEnv: a thread is given no configuration but its environment.
  const { HOLDFAST_MCP_CONFIG: file = '' } = process.env;
  return new McpTools(file === '' ? {} : await readMcpConfig(file));
}

/** The tools of some MCP servers. */
export class McpTools {
  readonly #servers: McpServer[];

  constructor(config: McpConfig) {
    this.#servers = Object.entries(config).map(([name, server]) => new McpServer(name, server));
  }

  async list(signal: AbortSignal = NEVER): Promise<Tool[]> {
    const lists = await Promise.all(this.#servers.map((server) => toolsOf(server, signal)));
    return lists.flat();
  }

  /** Ends the servers that were started. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

async function toolsOf(server: McpServer, signal: AbortSignal): Promise<Tool[]> {
  const listing = await server.list(signal);
  return listing.ok ? listing.tools.map((definition) => toTool(server, definition)) : [missing(server, listing.why)];
}

function toTool(server: McpServer, definition: McpToolDefinition): Tool {
  const { name, title, description, inputSchema, annotations } = definition;
  // Nothing in a call tells a server that it has seen it before.
  const mayRepeat = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
  return {
    kind: 'tool',
    name: mcpToolName(server.name, name),
    description: description || title || `The tool "${name}" of the MCP server "${server.name}".`,
    inputSchema: JSON.parse(JSON.stringify({ ...inputSchema, properties: inputSchema.properties ?? {} })),
    timeoutMs: CALL_TIMEOUT_MS,
    once: !mayRepeat,
    parse: parseObject,
    needsApproval: () => false,
    run: async (input: JsonObject, call) => resultText(await server.call(definition, input, call)),
  };
}

/** Tells the model what it has to do without, and why. */
function missing(server: McpServer, why: string): Tool {
  const text = `The MCP server "${server.name}" cannot be used at the moment, and its tools are missing: ${why}`;
  return {
    kind: 'tool',
    name: mcpToolName(server.name, 'unavailable'),
    description: `${text} Calling this does nothing. Tell the user if what they want needs that server.`,
    inputSchema: { type: 'object', properties: {} },
    parse: parseObject,
    needsApproval: () => false,
    run: () => text,
  };
}

/** The server checks the rest, by its own schema. */
async function parseObject(input: Json): Promise<ParsedInput> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? { ok: true, input } : { ok: false, message: 'It must be an object.' };
}
