import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType } from '../support/sse-reader.ts';

const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };
/** Workers of this server, and how many tasks each runs at once. */
const SLOTS = 2 * 128;

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** Of these tasks, the ids in the order in which they began. */
async function startsOf(ids: readonly string[]): Promise<string[]> {
  const started = (await api.log()).filter(({ type }) => type === 'task.started').map(({ taskId }) => taskId);
  return started.filter((id) => ids.includes(id));
}

describe('§4 [T10] concurrencyKey', () => {
  test('of tasks with one key one runs at a time, in the order of their creation', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 15; i++)
      ids.push((await api.createTask({ agent: 'counter', input: 2, concurrencyKey: 'one' })).id);
    await Promise.all(ids.map((id) => api.ended(id)));

    const ends = /^task\.(started|completed)$/;
    const log = (await api.log()).filter(({ taskId, type }) => ids.includes(taskId) && ends.test(type));

    expect(log.map(({ taskId, type }) => `${type} ${taskId}`)).toEqual(
      ids.flatMap((id) => [`task.started ${id}`, `task.completed ${id}`]),
    );
  });

  test('tasks with other keys, and with none, run meanwhile', async () => {
    const { id } = await api.createTask({ agent: 'holder', concurrencyKey: 'mine' });

    const others = [await api.run('echo', 1, { concurrencyKey: 'MINE' }), await api.run('echo', 2)];
    await api.cancel(id);

    expect(others.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  test('a task that waits for people holds up nobody, and goes on when the lane is free', async () => {
    const waiting = await api.run('asker', SPEC, { concurrencyKey: 'people' });
    const question = await api.pendingQuestion(waiting.id);
    const runs = await api.createTask({ agent: 'gated', input: 'people', concurrencyKey: 'people' });
    const reader = await api.openStream(`/v1/tasks/${runs.id}/events`);
    await reader.until(isType('gated.reached'));
    reader.close();

    await api.answer(question.id, 'yes');
    const { status } = await api.task(waiting.id);
    await api.run('opener', { gate: 'people', times: 1 });
    const [first, second] = await Promise.all([api.ended(runs.id), api.ended(waiting.id)]);

    expect(status).toBe('queued');
    expect([first.status, second.status]).toEqual(['completed', 'completed']);
    expect(second.output).toMatchObject({ status: 'answered', answers: { a: 'yes' } });
  });

  test('within a lane the higher priority comes first, and among equals the older', async () => {
    const first = await api.createTask({ agent: 'holder', concurrencyKey: 'ranks' });
    const ids: string[] = [];
    for (const priority of [0, -100, 100, 0, 1, -1]) {
      ids.push((await api.createTask({ agent: 'echo', priority, concurrencyKey: 'ranks' })).id);
    }

    await api.cancel(first.id);
    await Promise.all(ids.map((id) => api.ended(id)));

    const [plain, lowest, highest, younger, one, below] = ids;
    expect(await startsOf(ids)).toEqual([highest, one, plain, younger, below, lowest]);
  });
});

describe('§4 [T10] priority', () => {
  test('when every slot is taken, the higher priority is begun first, and among equals the older', async () => {
    const holders = await Promise.all(Array.from({ length: SLOTS }, () => api.createTask({ agent: 'holder' })));
    const begun = await api.openStream('/v1/events?after=0&types=holder.begun');
    for (let i = 0; i < SLOTS; i++) await begun.until(isType('holder.begun'));
    begun.close();
    const ids: string[] = [];
    for (const priority of [-1, 0, 100, 0, -100, 7]) {
      ids.push((await api.createTask({ agent: 'echo', priority })).id);
    }
    const queued = await Promise.all(ids.map((id) => api.task(id)));

    await api.cancel(holders[0]?.id ?? '');
    await Promise.all(ids.map((id) => api.ended(id)));

    const [below, plain, highest, younger, lowest, seven] = ids;
    expect(queued.map(({ status }) => status)).toEqual(Array(6).fill('queued'));
    expect(await startsOf(ids)).toEqual([highest, seven, plain, younger, below, lowest]);
    await Promise.all(holders.map(({ id }) => api.cancel(id)));
  });
});
