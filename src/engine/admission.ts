import { HoldfastError } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import type { Pool } from '../worker/pool.ts';

/** What a new task must pass before anything is stored of it. */
export interface Admission {
  /** @throws HoldfastError `draining` when the server takes no new tasks any more */
  refuseWhenStopping(): void;
  /** @throws HoldfastError `unknown_agent`, `invalid_input`, `overloaded` */
  checkInput(agent: string, input: Json): Promise<void>;
}

export function createAdmission(pool: Pick<Pool, 'agents' | 'validate'>, stopping: AbortSignal): Admission {
  return {
    refuseWhenStopping() {
      if (stopping.aborted) throw new HoldfastError('draining', 'The server is stopping and takes no new tasks.');
    },
    async checkInput(agent, input) {
      if (!pool.agents.some(({ name }) => name === agent)) {
        const names = pool.agents.map(({ name }) => name).join(', ');
        throw new HoldfastError('unknown_agent', `There is no agent "${agent}"; there are: ${names}.`);
      }
      const errors = await pool.validate(agent, input);
      if (errors !== null) throw new HoldfastError('invalid_input', 'The agent refuses this input.', { errors });
    },
  };
}
