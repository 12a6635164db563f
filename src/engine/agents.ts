import type { AgentDescription, Store } from '../store/store.ts';

/** What can be asked to do work. */
export interface Agents {
  /** By name. */
  list(): Promise<AgentDescription[]>;
}

export function createAgents(store: Store): Agents {
  return { list: () => store.agents() };
}
