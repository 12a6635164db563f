import { parentPort } from 'node:worker_threads';
import { mcpTools } from '../../src/agents/mcp.ts';

const tools = await mcpTools();
parentPort?.postMessage(tools.length);
// The thread stays until it is ended.
parentPort?.on('message', () => process.exit());
