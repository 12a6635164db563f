import type { Question } from '../../../src/model/question.ts';
import { pass } from '../pass.ts';
import { type Field, read } from './field.ts';
import { send } from './send.ts';

const PAUSE_MS = 150;
const WAYS = ['left', 'right', 'ahead'];

/**
 * Looks what is pending and answers some of it, while others do the same: no two answers are ever equal. Once the faults
 * are over it answers everything.
 */
export async function answerQuestions(field: Field, client: string): Promise<void> {
  const dice = field.diceFor(client);
  let answers = 0;
  while (!field.over.aborted) {
    await pass(20 + dice.below(PAUSE_MS), field.over);
    const page = await read<{ items: Question[] }>(field, '/v1/questions?status=pending&limit=200');
    const taken = (page?.items ?? []).filter(() => field.calm.aborted || dice.below(3) === 0);
    await Promise.all(taken.map(resolve));
  }

  async function resolve({ id }: Question): Promise<void> {
    if (dice.below(8) === 0) return decline(id);
    // A person with two devices, who changes their mind.
    await Promise.all([answer(id), ...(dice.below(4) === 0 ? [answer(id)] : [])]);
  }

  async function answer(id: string): Promise<void> {
    const note = `${client}:${++answers}`;
    const body = { answers: { way: dice.pick(WAYS), note } };
    const key = keyOrNone(note);
    const request = { client, verb: 'answer', target: id, path: `/v1/questions/${id}/answers`, body, key } as const;
    await send(field, dice, request);
    if (dice.below(4) === 0) await send(field, dice, { ...request, key: keyOrNone(`${note} again`) });
  }

  async function decline(id: string): Promise<void> {
    const reason = `${client}:${++answers}`;
    const path = `/v1/questions/${id}/decline`;
    await send(field, dice, { client, verb: 'decline', target: id, path, body: { reason }, key: keyOrNone(reason) });
  }

  function keyOrNone(name: string): string | null {
    return dice.below(2) === 0 ? name.replaceAll(' ', '-') : null;
  }
}
