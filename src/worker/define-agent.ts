import type { AgentDefinition } from '../model/agent.ts';
import { AGENT_NAME } from '../model/agent-name.ts';

/** Registered, so that agents are known as such whichever copy of this module defined them. */
const AGENT: unique symbol = Symbol.for('holdfast.agent');

/** An agent whose definition was checked: what a thread looks for among the exports of its modules. */
export type Agent<Input = unknown> = Readonly<AgentDefinition<Input>> & {
  readonly version: string;
  readonly description: string;
  readonly [AGENT]: true;
};

const MAX_VERSION_LENGTH = 64;

/**
 * Defines an agent. Export the result, alone or in an array, from a module that the server is given.
 *
 * @throws TypeError naming the rule that the definition breaks
 */
export function defineAgent<Input = unknown>(definition: AgentDefinition<Input>): Agent<Input> {
  const { name, version = '1', description = '', input, run } = definition;
  if (typeof name !== 'string' || !AGENT_NAME.test(name)) {
    throw new TypeError(
      `An agent's name is lower-case letters, digits, "-" and "_", at most 64, beginning with a letter; not ${JSON.stringify(name)}.`,
    );
  }
  if (typeof version !== 'string' || version === '' || version.length > MAX_VERSION_LENGTH) {
    throw new TypeError(`The version of agent "${name}" must be a string of 1 to ${MAX_VERSION_LENGTH} characters.`);
  }
  if (typeof description !== 'string') throw new TypeError(`The description of agent "${name}" must be a string.`);
  if (input !== undefined && typeof input?.['~standard']?.validate !== 'function') {
    throw new TypeError(`The input of agent "${name}" must be a Standard Schema, for example one of zod.`);
  }
  if (typeof run !== 'function') throw new TypeError(`Agent "${name}" needs a function "run".`);
  return Object.freeze({ ...definition, version, description, [AGENT]: true as const });
}

/** Whether `value` came from {@link defineAgent}. */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && AGENT in value;
}
