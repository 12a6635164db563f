import type { CallToolResult } from '@ai-sdk/mcp';
import type { JsonObject } from '../model/json.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { type McpConnection, McpRefusal, type McpToolDefinition, openMcpConnection } from './mcp-connection.ts';

/** How long a list of tools is good for, and how long a server that did not start is left alone by those who only list. */
const LISTED_MS = 30_000;

/** What a server offers, or why it offers nothing. */
export type McpListing = { ok: true; tools: McpToolDefinition[] } | { ok: false; why: string };

/** An MCP server as all tasks of a thread share it: started when it is first needed, and again after it has died. */
export class McpServer {
  readonly name: string;
  readonly #config: McpServerConfig;
  #connection: Promise<McpConnection> | null = null;
  #listing: { until: number; result: Promise<McpListing> } | null = null;
  #isClosed = false;

  constructor(name: string, config: McpServerConfig) {
    this.name = name;
    this.#config = config;
  }

  /** Never rejects but by the signal: without this server an assistant still has its other tools. */
  async list(signal: AbortSignal): Promise<McpListing> {
    if (this.#listing === null || performance.now() > this.#listing.until) {
      const listing = { until: Number.POSITIVE_INFINITY, result: this.#list() };
      // Counted from the outcome: a server may take as long to fail.
      listing.result.then(() => {
        listing.until = performance.now() + LISTED_MS;
      });
      this.#listing = listing;
    }
    return orAborted(this.#listing.result, signal);
  }

  /** Starts the server if it is not there. @throws Error in plain words for the model */
  async call(
    tool: McpToolDefinition,
    input: JsonObject,
    call: { toolCallId: string; signal: AbortSignal },
  ): Promise<CallToolResult> {
    const opening = this.#open();
    const connection = await orAborted(opening, call.signal).catch((error) => {
      call.signal.throwIfAborted();
      throw new Error(`The MCP server "${this.name}" could not be started: ${messageOf(error)}`);
    });
    try {
      return await connection.callTool(tool, input, call);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof McpRefusal) throw error;
      this.#lose(opening);
      const what = `The MCP server "${this.name}" was lost in the middle of the call`;
      throw new Error(`${what}: ${messageOf(error)}. Nobody knows how far it came. The next call starts it again.`);
    }
  }

  /** Ends the server if it was started here. It is not opened again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#connection?.catch(() => null);
    await connection?.close();
  }

  async #list(): Promise<McpListing> {
    try {
      return { ok: true, tools: await this.#listTools() };
    } catch (error) {
      const why = messageOf(error);
      console.error(`The MCP server "${this.name}" could not be used, and its tools are missing: ${why}`);
      return { ok: false, why };
    }
  }

  /** A connection that was there before may have been lost without a word: then a new one is tried. */
  async #listTools(): Promise<McpToolDefinition[]> {
    const isFresh = this.#connection === null;
    const opening = this.#open();
    try {
      return await (await opening).listTools();
    } catch (error) {
      if (this.#connection === opening) this.#connection = null;
      closeQuietly(opening);
      if (isFresh) throw error;
      return (await this.#open()).listTools();
    }
  }

  #open(): Promise<McpConnection> {
    if (this.#isClosed) return Promise.reject(new Error('It was closed.'));
    if (this.#connection !== null) return this.#connection;
    const opening: Promise<McpConnection> = openMcpConnection(this.#config, () => this.#lose(opening));
    opening.catch(() => {
      if (this.#connection === opening) this.#connection = null;
    });
    this.#connection = opening;
    return opening;
  }

  /** The next one may be of another version, with other tools. */
  #lose(connection: Promise<McpConnection>): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#listing = null;
    closeQuietly(connection);
  }
}

/** What is of no use any more may fail to say goodbye. */
function closeQuietly(connection: Promise<McpConnection>): void {
  connection.then((opened) => opened.close()).catch(() => {});
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The outcome of what others wait for too: an abort stops the waiting, not the thing. */
function orAborted<T>(outcome: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
