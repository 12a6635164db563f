import type { Agent, Client } from '../client.ts';
import type { Requests } from './request.ts';

export function createAgents(requests: Requests): Client['agents'] {
  return {
    list: async (options = {}) => (await requests.read<{ items: Agent[] }>('/v1/agents', options)).body,
  };
}
