/** A server of MCP on standard input and output that has two tools, on two pages, and refuses to call any. */
import { createInterface } from 'node:readline';

const tool = { description: '', inputSchema: { type: 'object' } };
let calls = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) })}\n`);
}

/** @returns {object} */
function answer(/** @type {string} */ method, /** @type {{ protocolVersion: string, cursor?: string }} */ params) {
  switch (method) {
    case 'initialize': {
      const serverInfo = { name: 'refusing', version: '1' };
      return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      if (params.cursor === undefined) return { result: { tools: [{ ...tool, name: 'one' }], nextCursor: 'more' } };
      return { result: { tools: [{ ...tool, name: 'two' }] } };
    default:
      return { error: { code: -32602, message: `refused for the ${++calls}. time` } };
  }
}
