import type { Server } from './server.ts';
import type { ServingOptions } from './serving-options.ts';
import type { AccessStore } from './store/access.ts';
import type { Store } from './store/store.ts';

/** Starts a server over a store, which is closed again when it cannot start. */
export async function startOver(
  store: Store,
  openAccess: () => AccessStore | Promise<AccessStore>,
  { agents, ...options }: ServingOptions,
): Promise<Server> {
  let accessStore: AccessStore | null = null;
  try {
    const { startServer } = await import('./server.ts');
    accessStore = await openAccess();
    const agentModules = [agents].flat().map(({ href }) => href);
    return await startServer({ ...options, store, accessStore, agentModules });
  } catch (error) {
    await accessStore?.close();
    await store.close();
    throw error;
  }
}
