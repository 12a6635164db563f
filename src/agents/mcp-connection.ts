import type { CallToolResult, ListToolsResult, MCPClient, MCPTransport } from '@ai-sdk/mcp';
import type { JsonObject } from '../model/json.ts';
import type { McpServerConfig } from './mcp-config.ts';

export type McpToolDefinition = ListToolsResult['tools'][number];

/** An MCP server that has been started, or one elsewhere to which a session is open. */
export interface McpConnection {
  listTools(): Promise<McpToolDefinition[]>;
  /** @throws McpRefusal when the server says no; anything else means that the connection is of no use any more */
  callTool(tool: McpToolDefinition, input: JsonObject, call: McpCall): Promise<CallToolResult>;
  close(): Promise<void>;
}

interface McpCall {
  toolCallId: string;
  signal: AbortSignal;
}

/** What the server itself answered in place of a result. */
export class McpRefusal extends Error {
  override readonly name = 'McpRefusal';
}

/** Also for `npx`, which may have to download the server first. */
const START_TIMEOUT_MS = 30_000;
const LIST_TIMEOUT_MS = 10_000;
/** A server that always names a next page is left at some point. */
const MAX_LIST_PAGES = 20;

/** @param onClosed called when the server has ended, or the connection was closed */
export async function openMcpConnection(config: McpServerConfig, onClosed: () => void): Promise<McpConnection> {
  const { createMCPClient } = await import('@ai-sdk/mcp');
  const transport = await transportOf(config);
  const client = await createMCPClient({
    transport,
    clientName: 'holdfast',
    initializationOptions: { timeout: START_TIMEOUT_MS },
    // What is of no request, such as a notification, is not for us.
    onUncaughtError() {},
  });
  if ('start' in transport) tellClosed(transport, onClosed);
  return {
    listTools: () => listTools(client),
    callTool: (tool, input, call) => callTool(client, tool, input, call),
    close: () => client.close(),
  };
}

async function transportOf(
  config: McpServerConfig,
): Promise<Parameters<typeof import('@ai-sdk/mcp').createMCPClient>[0]['transport']> {
  if ('url' in config) return { type: 'http', url: config.url, headers: config.headers };
  const { Experimental_StdioMCPTransport: StdioTransport } = await import('@ai-sdk/mcp/mcp-stdio');
  const { command, args, env } = config;
  return new StdioTransport({ command, args, env });
}

function tellClosed(transport: MCPTransport, onClosed: () => void): void {
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    onClosed();
  };
}

async function listTools(client: MCPClient): Promise<McpToolDefinition[]> {
  const tools: McpToolDefinition[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.listTools({ params, options: { timeout: LIST_TIMEOUT_MS } });
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

async function callTool(
  client: MCPClient,
  tool: McpToolDefinition,
  input: JsonObject,
  call: McpCall,
): Promise<CallToolResult> {
  const { [tool.name]: callable } = client.toolsFromDefinitions({ tools: [tool] });
  try {
    const { toolCallId, signal: abortSignal } = call;
    return (await callable?.execute(input, { toolCallId, messages: [], abortSignal })) as CallToolResult;
  } catch (error) {
    // The code of JSON-RPC, which only an answer has.
    if (error instanceof Error && 'code' in error && typeof error.code === 'number')
      throw new McpRefusal(error.message);
    throw error;
  }
}
