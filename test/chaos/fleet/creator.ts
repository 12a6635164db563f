import type { Json } from '../../../src/model/json.ts';
import { pass } from '../pass.ts';
import type { Field } from './field.ts';
import { send } from './send.ts';

export interface NewTask {
  /** Names the request, as its Idempotency-Key and in the task's input. */
  ticket: string;
  body: { [field: string]: Json };
}

/**
 * Asks for one task after the other, each until it is acknowledged, and for some of them once more.
 *
 * @param pauseMs the longest time between two of them
 */
export async function createTasks(
  field: Field,
  client: string,
  tasks: readonly NewTask[],
  pauseMs: number,
): Promise<void> {
  const dice = field.diceFor(client);
  for (const { ticket, body } of tasks) {
    await pass(dice.below(pauseMs), field.calm);
    const request = { client, verb: 'create', target: ticket, path: '/v1/tasks', body, key: ticket } as const;
    await send(field, dice, request);
    if (dice.below(8) === 0) await send(field, dice, request);
  }
}
