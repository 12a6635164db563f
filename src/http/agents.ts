import { z } from 'zod';
import type { Agents } from '../engine/agents.ts';
import { type Operation, ref, sendJson } from './operation.ts';
import { noQuery, readQuery } from './query.ts';

/** The wire form of an agent. @see docs/protocol.md §3 */
export const agentSchema = z.object({
  name: z.string(),
  description: z.string(),
  version: z.string(),
  inputSchema: z.json(),
}) satisfies z.ZodType<Awaited<ReturnType<Agents['list']>>[number]>;

/** @see docs/protocol.md §3 */
export function agentOperations(agents: Agents): Operation[] {
  const items = { type: 'array', items: ref('Agent') };
  return [
    {
      id: 'listAgents',
      method: 'get',
      path: '/v1/agents',
      access: 'tasks:read',
      summary: 'Lists the agents that can be asked',
      answers: {
        200: { description: 'All agents.', schema: { type: 'object', required: ['items'], properties: { items } } },
      },
      errors: ['invalid_request'],
      async handle(c) {
        readQuery(c, noQuery);
        return sendJson(c, { items: await agents.list() });
      },
    },
  ];
}
