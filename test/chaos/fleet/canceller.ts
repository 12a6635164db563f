import type { Task } from '../../../src/model/task.ts';
import { pass } from '../pass.ts';
import { type Field, read } from './field.ts';
import { send } from './send.ts';

const PAUSE_MS = 1000;
const CANCELS = 4;

/** Cancels a few tasks, parents and children, at whatever they are. */
export async function cancelTasks(field: Field, client: string): Promise<void> {
  const dice = field.diceFor(client);
  for (let cancels = 0; cancels < CANCELS; ) {
    await pass(200 + dice.below(PAUSE_MS), field.calm);
    if (field.calm.aborted) return;
    const page = await read<{ items: Task[] }>(field, '/v1/tasks?limit=50');
    const tasks = page?.items ?? [];
    if (tasks.length === 0) continue;
    cancels += 1;
    const { id } = dice.pick(tasks);
    const reason = `${client}:${cancels}`;
    const key = dice.below(2) === 0 ? reason : null;
    await send(field, dice, {
      client,
      verb: 'cancel',
      target: id,
      path: `/v1/tasks/${id}/cancel`,
      body: { reason },
      key,
    });
  }
}
