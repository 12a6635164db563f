import type { Logger } from 'pino';
import type { Server } from './server.ts';

export { askUserQuestions } from './agents/ask-user-questions.ts';
export { type AssistantDefinition, type AssistantOutput, createAssistant } from './agents/create-assistant.ts';
export { defineTool, type ToolDefinition } from './agents/define-tool.ts';
export { fetchPage } from './agents/fetch-page.ts';
export { mcpTools } from './agents/mcp.ts';
export type { AssistantTool, QuestionTool, Tool, ToolContext } from './agents/tool.ts';
export type { ToolSource } from './agents/tool-call.ts';
export type {
  AgentDefinition,
  AskSpec,
  ChildHandle,
  ChildResult,
  Conversation,
  Reply,
  StepHandle,
  StepOptions,
  TaskHandle,
  ToolOutcome,
  Turn,
  TurnEntry,
} from './model/agent.ts';
export type { Message } from './model/event.ts';
export type { ItemSpec, OptionSpec } from './model/question-spec.ts';
export { defineAgent } from './worker/define-agent.ts';
export type { Server };

export interface HoldfastOptions {
  /** Where the database lives; made if it is missing. One process at a time. */
  dataDir: string;
  /** `file:` URLs of the modules that export agents. */
  agents: URL | URL[];
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 4747; 0 takes a free one. */
  port?: number;
  /** Threads that run agents, at least 2. Default: one for each core. */
  workers?: number;
  /** How long the code of a waiting task is kept in memory. Default 10,000; 0 keeps none. */
  warmMs?: number;
  /** How much memory each thread that runs agents may hold, heap and Buffers together, in MiB: 64 to 1024, default 512. */
  workerMemoryMb?: number;
  /** How long the events of ended tasks are kept; null keeps them for ever, which is the default. */
  retentionMs?: number | null;
  logger?: Logger;
}

/** Starts a server with its data in one directory. @throws Error with a text for people when it cannot start */
export async function createHoldfast(options: HoldfastOptions): Promise<Server> {
  const { dataDir, agents, ...rest } = options;
  // Agents' modules import this one in every thread, for `defineAgent` and its like: the server is loaded where it is started.
  const { openSqliteStore } = await import('./store/sqlite/open.ts');
  const { startServer } = await import('./server.ts');
  const store = await openSqliteStore({ dir: dataDir });
  try {
    return await startServer({ ...rest, store, agentModules: [agents].flat().map(({ href }) => href) });
  } catch (error) {
    await store.close();
    throw error;
  }
}
