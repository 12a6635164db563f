import { askUserQuestions } from './ask-user-questions.ts';
import { createAssistant } from './create-assistant.ts';
import { searchFlights, weatherReport } from './demo-tools.ts';
import { fetchPage } from './fetch-page.ts';
import { mcpTools } from './mcp.ts';
import { readModelConfig } from './model-config.ts';

/** Answers with the model of the environment, which may ask the user, read pages, and call the tools of MCP servers. */
export const assistant = createAssistant({
  name: 'assistant',
  description: 'Answers a message, with tools: it asks you, reads pages, and calls the MCP servers that it is given.',
  tools: async (signal) => {
    const isDemo = readModelConfig().server === null;
    return [
      askUserQuestions,
      fetchPage,
      ...(isDemo ? [searchFlights, weatherReport] : []),
      ...(await mcpTools(signal)),
    ];
  },
});
