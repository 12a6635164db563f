import type { Issue } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import { type Checker, NO_TASK, runAs } from './culprit.ts';
import { defer } from './deferred.ts';
import type { Agent } from './define-agent.ts';
import { errorMessage } from './error-message.ts';
import { parseInput } from './input-schema.ts';
import { own } from './own-globals.ts';

const MAX_MESSAGE_LENGTH = 1000;

/** The check of an input for which there is no task yet. */
export class InputCheck implements Checker {
  readonly index = NO_TASK;
  readonly #agent: Agent;
  readonly #refused = defer<Issue[]>();

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  get agent(): string {
    return this.#agent.name;
  }

  /** @returns what is wrong with it, also when the schema throws where nobody can catch it; null when it is good */
  issues(input: Json): Promise<Issue[] | null> {
    return Promise.race([this.#refused.promise, runAs(this, () => this.#parse(input))]);
  }

  refuse(error: unknown): void {
    const message = `The schema failed: ${errorMessage(error)}`.slice(0, MAX_MESSAGE_LENGTH);
    this.#refused.resolve([{ path: '', message }]);
  }

  async #parse(input: Json): Promise<Issue[] | null> {
    const parsed = await parseInput(this.#agent, input);
    // A rejection that nobody has handled is known when the promises have run dry.
    await new Promise((resolve) => own.setImmediate(resolve));
    return parsed.ok ? null : parsed.issues;
  }
}
