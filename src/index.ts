import type { Server } from './server.ts';
import type { ServingOptions } from './serving-options.ts';

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

export interface HoldfastOptions extends ServingOptions {
  /** Where the database lives; made if it is missing. One process at a time. */
  dataDir: string;
}

/** Starts a server with its data in one directory. @throws Error with a text for people when it cannot start */
export async function createHoldfast({ dataDir, ...options }: HoldfastOptions): Promise<Server> {
  // Agents' modules import this one in every thread, for `defineAgent` and its like: the server is loaded where it is started.
  const { openSqliteStore } = await import('./store/sqlite/open.ts');
  const { openSqliteAccess } = await import('./store/sqlite/access/open.ts');
  const { startOver } = await import('./start-over.ts');
  const store = await openSqliteStore({ dir: dataDir });
  return startOver(store, () => openSqliteAccess(dataDir, 'server'), options);
}
