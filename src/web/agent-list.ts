import { type ReadonlySignal, signal } from '@preact/signals';
import type { Agent, Client, JsonObject } from '../client/index.ts';

/** The agents that the server has. They are the same for as long as it runs. */
export interface AgentList {
  /** Null until they have been read. */
  readonly agents: ReadonlySignal<readonly Agent[] | null>;
  /** Reads them unless that has been done. */
  load(): void;
}

export function createAgentList(client: Client): AgentList {
  const agents = signal<readonly Agent[] | null>(null);
  let isLoading = false;
  return {
    agents,
    load() {
      if (isLoading || agents.value !== null) return;
      isLoading = true;
      client.agents.list().then(
        ({ items }) => {
          agents.value = items;
        },
        () => {
          isLoading = false; // Whoever needs them next asks again.
        },
      );
    },
  };
}

/** Whether an agent takes a message, so that it can be talked to. */
export function takesMessages({ inputSchema }: Agent): boolean {
  const properties = inputSchema?.properties;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return false;
  const message = (properties as JsonObject).message;
  return typeof message === 'object' && message !== null && !Array.isArray(message) && message.type === 'string';
}
