import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type EventsPage, type PagedEvent, readLog, readPage } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { isNamed, isSignal, isType, logEvents, openSseReader, type SseBlock } from '../support/sse-reader.ts';

/** The connections of a reader, one after the other: the blocks that came whole on each. */
type Chain = SseBlock[][];

/** docs/protocol.md §5: a client that drops and resumes receives exactly the log. */
describe('A reader that drops and resumes', () => {
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test('receives exactly the log, as do four others, each cut hundreds of times at random bytes', async () => {
    const { id } = await api.createTask({ agent: 'ticker', input: { count: 3000, everyMs: 1 } });
    const path = `/v1/tasks/${id}/events`;

    const chains = await Promise.all([11, 12, 13, 14, 15].map((seed) => readInPieces(path, seed)));

    const log = await readLog(api, path);
    expect(log.filter(({ type }) => type === 'load.tick').map(({ data }) => data.n)).toEqual([...Array(3000).keys()]);
    expectOneEnd(log, await api.task(id));
    const replay = await openSseReader(`${server.url}${path}`);
    expectExactly([await replay.rest()], log);
    for (const chain of chains) {
      expect(chain.length).toBeGreaterThan(200);
      expectExactly(chain, log);
      expect(idsOf(chain.flat())).toEqual(log.map((event) => event.id));
      expect(chain.flat().filter(isNamed('end'))).toHaveLength(1);
      expect(chain.flat().at(-1)).toMatchObject({ event: 'end', id: log.at(-1)?.id });
    }
  }, 120_000);

  test('may change between the stream and long polling at any event, beside a stream of everything', async () => {
    const watcher = await openSseReader(`${server.url}/v1/events?after=latest`);
    const { id } = await api.createTask({ agent: 'ticker', input: { count: 1500, everyMs: 1 } });
    const path = `/v1/tasks/${id}/events`;
    const random = seeded(21);
    const ids: string[] = [];
    const changes = { pages: 0, streams: 0 };

    for (let cursor = '0', done = false; !done; ) {
      if (random() < 0.5) {
        const page: EventsPage = await readPage(api, path, `after=${cursor}&limit=${1 + below(random, 40)}&wait=5`);
        ids.push(...page.events.map((event) => event.id));
        ({ cursor, done } = page);
        changes.pages += 1;
      } else {
        const reader = openSocketReader(`${server.url}${path}`, { cursor, cutAfterBytes: 1 + below(random, 4000) });
        done = (await reader.closed) === 'over';
        ids.push(...idsOf(reader.blocks));
        cursor = lastId(reader.blocks) ?? cursor;
        changes.streams += 1;
      }
    }

    const log = await readLog(api, path);
    await watcher.until(isType('task.completed'));
    watcher.close();
    expect(ids).toEqual(log.map((event) => event.id));
    expectExactly([watcher.blocks.slice(0, log.length + 1)], log);
    expect(Math.min(changes.pages, changes.streams)).toBeGreaterThan(20);
  });

  test('is told of unfinished work alone, then of everything, when it is cut in a retelling', async () => {
    const sleeper = await api.run('closer', { before: 400 });
    const over = await api.run('ticker', { count: 300 });
    const riser = await api.run('closer', { before: 400, after: 300, everyMs: 1 });
    const question = await api.pendingQuestion(riser.id);
    const isLast = (block: SseBlock) => isType('task.completed')(block) && block.data?.includes(riser.id) === true;

    const reading = readInPieces('/v1/events', 31, isLast);
    await api.answer(question.id, true);
    const chain = await reading;

    const log = await readLog(api, '/v1/events');
    const [first = ''] = idsOf(chain.flat());
    const until = Number(first.split('.')[2]);
    const ended = endedBy(log, until);
    const last = logEvents(chain.flat()).at(-1)?.seq ?? 0;
    const wanted = log.filter(({ seq, taskId }) => seq <= last && (seq > until || !ended.has(taskId)));
    expect(until).toBeGreaterThan(800);
    expect(ended).toContain(over.id);
    expect(ended).not.toContain(sleeper.id);
    expect(chain.length).toBeGreaterThan(50);
    expectExactly(chain, wanted);
    for (const id of idsOf(chain.flat())) expect(id).toMatch(seqOf(id) <= until ? /^\w+\.\d+\.\d+$/ : /^\w+\.\d+$/);
  });

  test('gets everything after a pause in which the server had to hold back', async () => {
    const { id } = await api.createTask({ agent: 'ticker', input: { count: 400, everyMs: 5, padBytes: 40_000 } });
    const path = `/v1/tasks/${id}/events`;
    const slow = openSocketReader(`${server.url}${path}`);
    const response = await slow.opened;
    response.pause();
    const fast = await openSseReader(`${server.url}${path}`);

    await fast.rest();
    const takenInThePause = slow.blocks.length;
    response.resume();
    await once(response, 'end');

    expect(takenInThePause).toBeLessThan(20);
    expectExactly([slow.blocks], await readLog(api, path));
    expect(slow.blocks.at(-1)?.event).toBe('end');
  });

  /**
   * Reads a stream over as many connections as it takes, each destroyed after a random number of bytes; each goes on
   * from the last block that came whole.
   *
   * @param isLast where to stop reading; without it, at the end of the stream
   */
  async function readInPieces(path: string, seed: number, isLast?: (block: SseBlock) => boolean): Promise<Chain> {
    const random = seeded(seed);
    const chain: Chain = [];
    for (let cursor: string | null = null; ; ) {
      const cutAfterBytes = 1 + below(random, 3500);
      const reader = openSocketReader(`${server.url}${path}`, {
        cursor,
        cutAfterBytes,
        // Behind the last one nothing more comes that could be cut.
        onBlock: (block) => isLast?.(block) && reader.destroy(),
      });
      const { blocks } = reader;
      const ending = await reader.closed;
      const last = isLast === undefined ? -1 : blocks.findIndex(isLast);
      chain.push(last < 0 ? blocks : blocks.slice(0, last + 1));
      if (ending === 'over' || last >= 0) return chain;
      cursor = lastId(blocks) ?? cursor;
    }
  }
});

/** The ids of the log events. */
function idsOf(blocks: readonly SseBlock[]): string[] {
  return blocks.filter((block) => !isSignal(block)).map(({ id }) => id ?? '');
}

function lastId(blocks: readonly SseBlock[]): string | null {
  return blocks.findLast(({ id }) => id !== null)?.id ?? null;
}

function seqOf(id: string): number {
  return Number(id.split('.')[1]);
}

/** The tasks that had ended when the log was so long. */
function endedBy(log: readonly PagedEvent[], until: number): Set<string> {
  const ends = log.filter(({ seq, type }) => seq <= until && /^task\.(completed|failed|cancelled)$/.test(type));
  return new Set(ends.map(({ taskId }) => taskId));
}

function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}

/** The same numbers for the same seed, each from 0 to below 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
