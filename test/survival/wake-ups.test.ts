import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { type Api, createApi } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isSignal } from '../support/sse-reader.ts';
import { rounds } from './rounds.ts';

const LIMIT_MS = 600_000;
const AT_ONCE = 10;

let server: ServerProcess;
let api: Api;

// Half of the rounds find the code in memory, half go on from the journal.
describeWith('kept in memory', '10000');
describeWith('never kept in memory', '0');

function describeWith(name: string, warmMs: string): void {
  describe(`a waiting task, ${name},`, () => {
    beforeAll(async () => {
      server = await startServerProcess({
        agents: ['test/survival/survival-agents.ts'],
        env: { HOLDFAST_WARM_MS: warmMs },
      });
      api = createApi(server.url);
    });
    afterAll(() => server.stop());

    test('goes on when a race of a question and a timer is won by an answer', { timeout: LIMIT_MS }, async () => {
      await play(rounds(500), async (n) => {
        const { id } = await api.run('racer');
        const question = await api.pendingQuestion(id);
        expect((await api.answer(question.id, `${n}`)).status).toBe(200);

        expect(await api.ended(id)).toMatchObject({ status: 'completed', output: { answers: { value: `${n}` } } });
      });
    });

    test('goes on in each branch when its own answer comes', { timeout: LIMIT_MS }, async () => {
      await play(rounds(500), async (n) => {
        const { id } = await api.run('both');
        const { body } = await api.get<{ items: Question[] }>(`/v1/questions?status=pending&taskId=${id}`);
        const inSomeOrder = n % 2 === 0 ? body.items : [...body.items].reverse();
        const statuses = await Promise.all(
          inSomeOrder.map(async ({ id: questionId, name: side }) => (await api.answer(questionId, side)).status),
        );

        expect(statuses).toEqual([200, 200]);
        const { output } = await api.ended(id);
        expect(output).toMatchObject([{ answers: { value: 'left' } }, { answers: { value: 'right' } }]);
      });
    });

    test('hears an answer that comes in the instant in which it comes to rest', { timeout: LIMIT_MS }, async () => {
      const each = 25;
      await play(Math.ceil(rounds(500) / each), async () => {
        const task = await api.createTask({ agent: 'talker', input: { rounds: each } });
        const stream = await api.openStream(`/v1/tasks/${task.id}/events`);
        for (let round = 0; round < each; round++) {
          // Answered as soon as it is asked: the task is just coming to rest.
          const block = await stream.until(
            (each) => !isSignal(each) && each.data?.includes('"question.asked"') === true,
          );
          const { question } = JSON.parse(block.data ?? '').data;
          expect((await api.answer(question.id, `${round}`)).status).toBe(200);
        }
        await stream.rest();

        const { output } = await api.ended(task.id);
        expect(output).toEqual(Array.from({ length: each }, (_, round) => `${round}`));
      });
    });
  });
}

/** Plays a number of rounds, a few at a time. */
async function play(count: number, round: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < count; n += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, i) => round(n + i)));
  }
}
