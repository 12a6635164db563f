import { type Agent, isAgent } from './define-agent.ts';
import { errorMessage } from './error-message.ts';

/**
 * Imports the modules and finds the agents among what they export: by default or by name, alone or in arrays.
 *
 * @param modules `file:` URLs of `.js`, `.mjs` or `.ts`
 * @returns the agents by name, in the order of the modules
 * @throws Error when a module cannot be loaded, has no agents, or a name is taken twice
 */
export async function loadAgents(modules: readonly string[]): Promise<ReadonlyMap<string, Agent>> {
  if (needsTypeScript(modules)) (await import('tsx/esm/api')).register();
  const agents = new Map<string, Agent>();
  for (const module of modules) {
    const found = agentsIn(await load(module));
    if (found.size === 0)
      throw new Error(`${module} exports no agent. Wrap each agent in defineAgent() and export it.`);
    for (const agent of found) {
      if (agents.has(agent.name)) throw new Error(`${module}: there is already an agent named "${agent.name}".`);
      agents.set(agent.name, agent);
    }
  }
  return agents;
}

/** From source this code runs through tsx already; registering it twice would compile everything twice. */
function needsTypeScript(modules: readonly string[]): boolean {
  return modules.some((module) => /\.[cm]?ts$/.test(module)) && !import.meta.url.endsWith('.ts');
}

async function load(module: string): Promise<Record<string, unknown>> {
  try {
    return await import(module).catch((error: unknown) => importApart(module, error));
  } catch (error) {
    throw new Error(`Cannot load the agents of ${module}: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * TypeScript beside no `package.json` that says which kind of module it is: Node takes it for CommonJS, finds out that it
 * is not, and gets entangled. Imported apart from all else it loads.
 */
async function importApart(module: string, error: unknown): Promise<Record<string, unknown>> {
  const isEntangled = error instanceof Error && 'code' in error && error.code === 'ERR_REQUIRE_CYCLE_MODULE';
  if (!isEntangled) throw error;
  const loaded = await (await import('tsx/esm/api')).tsImport(module, import.meta.url);
  // What it exports is then one level further down.
  return loaded.default?.__esModule === true ? loaded.default : loaded;
}

/** A set, since a module may export one agent both by name and by default. */
function agentsIn(exports: Record<string, unknown>): Set<Agent> {
  return new Set(
    Object.values(exports)
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .filter(isAgent),
  );
}
