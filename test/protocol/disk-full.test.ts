import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, expectProblem, type Page, TASK_AGENTS } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { isNamed, type LogEvent, openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';
import { heardIn } from './flood-agents.ts';

const EVERYTHING = '/v1/events';
const AGENTS = [...TASK_AGENTS, 'test/protocol/flood-agents.ts'];
const COUNT = 1500;
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };
/** More than fit on what the flood leaves. */
const SPECS = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`branch-${n}`, SPEC]));

const mustRun = process.env.CI === 'true';

/** docs/protocol.md §9 `storage_full`. */
describe('A disk that is full', () => {
  const running: ServerProcess[] = [];
  let disk: SmallDisk | null = null;
  beforeAll(() => {
    disk = mountSmallDisk(16 * 1024 * 1024);
  });
  beforeEach(({ skip }) => onlyOnSqlite(skip));
  afterEach(async () => {
    await Promise.all(running.map((server) => server.kill()));
  });
  afterAll(() => disk?.unmount());

  test('refuses writes and loses none that it took; reads go on, and all else when there is space', async ({
    skip,
  }) => {
    if (disk === null && mustRun) throw new Error('A tmpfs must be mounted when CI=true, and cannot be.');
    if (disk === null) return skip('This user may not mount a tmpfs; root may.');
    const { dir: dataDir } = disk;
    const start = async () => {
      const server = await startServerProcess({ dataDir, agents: AGENTS });
      running.push(server);
      return { server, api: createApi(server.url) };
    };
    const { server, api } = await start();
    const live = await openSseReader(`${server.url}${EVERYTHING}?after=0`);
    const asking = await api.run('branches', SPECS);
    const file = join(newDirectory(), 'heard');
    const input = { file, count: COUNT, burst: 100, padBytes: 2000 };

    // The flood needs more than is left, so it is the flood that fills the disk.
    disk.fill(1024 * 1024);
    const flood = await api.createTask({ agent: 'flooder', input });
    const { taken, refused } = await writeUntilRefused(api);
    const heard = heardIn(file);
    const stored = await readLog(api, EVERYTHING);
    const late = await openSseReader(`${server.url}${EVERYTHING}?after=0`);
    await late.until(isNamed('caught-up'));
    late.close();
    await live.until(({ id }) => id === stored.at(-1)?.id);

    for (const answer of refused) {
      expectProblem(answer, 503, 'storage_full');
      expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    expectExactly([late.blocks], stored);
    expectExactly([live.blocks], stored);
    expect(await api.task(flood.id)).toMatchObject({ status: 'running' });
    expect(await pendingQuestions(api)).toHaveLength(100 - taken.answers);
    expect(heard.length).toBeLessThan(COUNT);
    expect(numbersOf(stored, flood.id).slice(0, heard.length)).toEqual(heard);

    disk.free();
    const ended = await api.ended(flood.id);
    for (const { id } of await pendingQuestions(api)) expect((await api.answer(id, 'yes')).status).toBe(200);
    const asked = await api.ended(asking.id);
    const log = await readLog(api, EVERYTHING);
    await live.until(({ id }) => id === log.at(-1)?.id);
    live.close();
    await server.kill();
    const again = await start();

    expect(ended).toMatchObject({ status: 'completed', output: { count: COUNT } });
    expect(asked.status).toBe('completed');
    expect(heardIn(file)).toEqual(Array.from({ length: COUNT }, (_, n) => `${n}`));
    expect(numbersOf(log, flood.id)).toEqual(heardIn(file));
    expect(log.filter(({ type }) => type === 'task.created')).toHaveLength(taken.tasks + 2);
    expect(log.slice(0, stored.length)).toEqual(stored);
    expectExactly([live.blocks], log);
    expectOneEnd(log, ended);
    expectStored(live.blocks, await wholeLog(again.server.url));
  });
});

/**
 * Creates tasks and answers questions until both are refused, twice in a row: once alone, it may be that something large
 * found no space at the same time, and took down with it what would have found some.
 */
async function writeUntilRefused(api: Api) {
  const taken = { tasks: 0, answers: 0 };
  const questions = await pendingQuestions(api);
  for (let inARow = 0; ; ) {
    const created = await api.post<Task>('/v1/tasks', { agent: 'echo' });
    const answered = await api.answer(questions[taken.answers]?.id ?? '', 'yes');
    taken.tasks += Number(created.status === 202);
    taken.answers += Number(answered.status === 200);
    inARow = created.status === 503 && answered.status === 503 ? inARow + 1 : 0;
    if (inARow === 2) return { taken, refused: [created, answered] };
  }
}

async function pendingQuestions(api: Api): Promise<Question[]> {
  return (await api.get<Page<Question>>('/v1/questions?status=pending&limit=200')).body.items;
}

function numbersOf(log: readonly LogEvent[], of: string): string[] {
  return log.filter(({ taskId, type }) => taskId === of && type === 'flood.tick').map(({ data }) => `${data.n}`);
}
