import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { startServerProcess } from '../support/server-process.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { isNamed, openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';
import { heardIn } from './flood-agents.ts';

const EVERYTHING = '/v1/events';
const AGENTS = [...TASK_AGENTS, 'test/protocol/flood-agents.ts'];
const COUNT = 1500;
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

const disk = mountSmallDisk(16 * 1024 * 1024);
const mustRun = process.env.CI === 'true';

/** docs/protocol.md §9 `storage_full`. */
describe('A disk that is full', () => {
  afterAll(() => disk?.unmount());

  test('refuses writes with 503, loses nothing, lets reads go on, and is no matter any more once it has space', async ({
    skip,
  }) => {
    if (disk === null && mustRun) throw new Error('CI must be allowed to mount a tmpfs, and is not.');
    if (disk === null) return skip('This user may not mount a tmpfs: run it as root.');
    const server = await startServerProcess({ dataDir: disk.dir, agents: AGENTS });
    const api = createApi(server.url);
    const live = await openSseReader(`${server.url}${EVERYTHING}?after=0`);
    const asking = await api.run('asker', SPEC);
    const question = await api.pendingQuestion(asking.id);
    const file = join(newDirectory(), 'heard');

    // The flood needs more than is left, so it is the flood that fills the disk.
    disk.fill(1024 * 1024);
    const flood = await api.createTask({
      agent: 'flooder',
      input: { file, count: COUNT, burst: 100, padBytes: 2000 },
    });
    let refused = await create(api);
    let accepted = 0;
    for (; refused.status === 202; refused = await create(api)) accepted += 1;
    const answer = await api.answer(question.id, 'June');
    const heard = heardIn(file);
    const stored = await readLog(api, EVERYTHING);

    expectProblem(refused, 503, 'storage_full');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expectProblem(answer, 503, 'storage_full');
    expect((await api.question(question.id)).status).toBe('pending');
    expect((await api.task(flood.id)).status).toBe('running');
    expect((await api.get<Page<Task>>('/v1/tasks?status=running')).body.items.map(({ id }) => id)).toContain(flood.id);
    const late = await openSseReader(`${server.url}${EVERYTHING}?after=0`);
    await late.until(isNamed('caught-up'));
    late.close();
    expectExactly([late.blocks], stored);
    await live.until(({ id }) => id === stored.at(-1)?.id);
    expectExactly([live.blocks], stored);
    expect(heard.length).toBeLessThan(COUNT);
    expect(numbersOf(stored, flood.id).slice(0, heard.length)).toEqual(heard);

    disk.free();
    const ended = await api.ended(flood.id);

    expect(ended).toMatchObject({ status: 'completed', output: { count: COUNT } });
    expect(heardIn(file)).toEqual(Array.from({ length: COUNT }, (_, n) => `${n}`));
    expect((await api.answer(question.id, 'July')).status).toBe(200);
    expect((await api.ended(asking.id)).output).toMatchObject({ status: 'answered', answers: { a: 'July' } });
    expect((await api.run('echo', 'after')).output).toBe('after');
    const { body } = await api.get<Page<Question>>('/v1/questions?status=pending');
    expect(body.items).toEqual([]);
    const log = await readLog(api, EVERYTHING);
    await live.until(({ id }) => id === log.at(-1)?.id);
    live.close();
    expectExactly([live.blocks], log);
    expectOneEnd(log, ended);
    expect(numbersOf(log, flood.id)).toEqual(heardIn(file));
    expect(log.filter(({ type }) => type === 'task.created')).toHaveLength(accepted + 3);
    expect(log.slice(0, stored.length)).toEqual(stored);
    await server.kill();

    const again = await startServerProcess({ dataDir: disk.dir, agents: AGENTS });
    expectStored(live.blocks, await wholeLog(again.url));
    await again.kill();
  });

  function create(api: Api) {
    return api.post<Task>('/v1/tasks', { agent: 'echo', input: 'x'.repeat(1000) });
  }
});

function numbersOf(log: readonly { taskId: string; type: string; data: { n: number } }[], of: string): string[] {
  return log.filter(({ taskId, type }) => taskId === of && type === 'flood.tick').map(({ data }) => `${data.n}`);
}
