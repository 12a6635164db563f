import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EVERYTHING } from '../../../src/engine/position.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';
import { ScriptedPool } from '../scripted-pool.ts';
import { type EngineNode, startEngine } from './engine-node.ts';

const postgres = await findPostgres();

describe.skipIf(postgres === null)('Two nodes on one PostgreSQL', () => {
  let database: TestDatabase;
  let running: EngineNode[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(running.map((node) => node.stop()));
    running = [];
  });
  afterAll(() => database.drop());

  /** One with a thread, and one that has no room for tasks. */
  async function start(notify: boolean, owner: string): Promise<{ a: EngineNode; b: EngineNode }> {
    const [forA, forB] = await Promise.all([
      openPostgresStore({ url: database.url, notify }),
      openPostgresStore({ url: database.url, notify }),
    ]);
    const a = await startEngine(forA, { owner });
    running.push(a);
    const b = await startEngine(forB, { owner, pool: new ScriptedPool(0) });
    running.push(b);
    return { a, b };
  }

  /** How long it takes from an answer at B until B hears what the code at A has said to it, in ms. */
  async function answerTimes({ a, b }: { a: EngineNode; b: EngineNode }, count: number): Promise<number[]> {
    const owner = a.ann.name;
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push((await a.ann.create({ agent: 'asker' })).id);
    await seen(b, owner, count, 'task.waiting');
    const times: number[] = [];
    for (const taskId of ids) {
      const [question] = await b.store.listQuestions(owner, { taskId, limit: 1 });
      const startedAt = performance.now();
      const args = { questionId: question?.id ?? '', given: { answer: true }, resolvedBy: 'bea' };
      await b.log.commit(owner, [{ verb: 'answerQuestion', args }]);
      await seen(b, owner, times.length + 1, 'asker.heard');
      times.push(performance.now() - startedAt);
    }
    return times.sort((x, y) => x - y);
  }

  /** Follows a log at a node until so many events of a type were told. */
  async function seen({ hub, store }: EngineNode, owner: string, count: number, type: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = async () => {
        const page = await store.readEvents(owner, {
          ...{ scope: EVERYTHING.scope, after: 0, upTo: null, unfinishedAt: null, limit: 200 },
        });
        if (page.events.filter((event) => event.type === type).length < count) return;
        subscription.close();
        resolve();
      };
      const subscription = hub.subscribe(owner, EVERYTHING.scope, () => void look().catch(reject));
      look().catch(reject);
    });
  }

  test('an answer at one is heard by code at the other at once', async () => {
    const times = await answerTimes(await start(true, 'told'), 20);

    // Both ways, while others use the machine as well; it would be a second or two by looking from time to time.
    expect(times[10]).toBeLessThan(700);
  });

  test('an answer at one is heard by code at the other in a second or so where nobody can be told', async () => {
    const times = await answerTimes(await start(false, 'untold'), 3);

    expect(times[1]).toBeLessThan(3000);
  });
});
