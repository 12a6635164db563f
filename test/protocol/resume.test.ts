import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { isNamed, isSignal, isType, type LogEvent, openSseReader, type SseBlock } from '../support/sse-reader.ts';
import { createTask, finished, type PagedEvent, questionOf, readLog, readPage } from '../support/task-client.ts';

/** docs/protocol.md §5: a client that drops and resumes receives exactly the log. */
describe('A reader that drops and resumes', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
  });
  afterAll(() => server.stop());

  test('receives exactly the log, like four others that are cut hundreds of times at random bytes', async () => {
    const taskId = await createTask(server.url, 'ticker', { count: 3000, everyMs: 1 });
    const path = `/v1/tasks/${taskId}/events`;

    const chains = await Promise.all([11, 12, 13, 14, 15].map((seed) => readInPieces(path, seed)));

    const log = await readLog(server.url, path);
    expect(log.filter(({ type }) => type === 'load.tick').map(({ data }) => data.n)).toEqual(upTo(3000));
    for (const { blocks, cuts } of chains) {
      expectExactly(told(blocks), log);
      expect(cuts).toBeGreaterThanOrEqual(200);
      expect(blocks.filter(isNamed('end'))).toEqual([expect.objectContaining({ id: log.at(-1)?.id, data: '{}' })]);
      expect(blocks.at(-1)?.event).toBe('end');
    }
    const replay = await openSseReader(`${server.url}${path}`);
    expectExactly(told(await replay.rest()), log);
  });

  test('may change between the stream and long polling at any event', async () => {
    const taskId = await createTask(server.url, 'ticker', { count: 1500, everyMs: 1 });
    const path = `/v1/tasks/${taskId}/events`;
    const random = seeded(21);
    const events: PagedEvent[] = [];
    let cursor = '0';

    for (let done = false; !done; ) {
      if (random() < 0.5) {
        const limit = 1 + Math.floor(random() * 40);
        const page = await readPage(server.url, path, `after=${cursor}&limit=${limit}&wait=5`);
        events.push(...page.events);
        ({ cursor, done } = page);
      } else {
        const reader = openSocketReader(`${server.url}${path}`, { cursor, cutAfterBytes: 1 + Math.floor(random() * 4000) });
        done = (await reader.closed) === 'over';
        events.push(...told(reader.blocks));
        cursor = reader.blocks.findLast(({ id }) => id !== null)?.id ?? cursor;
      }
    }

    expectExactly(events, await readLog(server.url, path));
  });

  test('is told of unfinished work alone, then of everything, when it is cut within a retelling', async () => {
    const { url } = server;
    const sleeper = await createTask(url, 'closer', { before: 400 });
    const over = await createTask(url, 'ticker', { count: 300 });
    const riser = await createTask(url, 'closer', { before: 400, after: 300, everyMs: 1 });
    await finished(url, over);
    await questionOf(url, sleeper);
    const question = await questionOf(url, riser);
    const before = await readLog(url, '/v1/events');

    const reading = readInPieces('/v1/events', 31, (block) => isType('task.completed')(block) && isOf(riser)(block));
    await question.answer();
    const { blocks, cuts } = await reading;

    const log = (await readLog(url, '/v1/events')).slice(0, before.length + blocks.length);
    const until = Number(blocks.find(({ id }) => id !== null)?.id?.split('.')[2]);
    const ended = endedBy(log, until);
    const wanted = log.filter(({ seq, taskId }) => seq > until || !ended.has(taskId));
    const last = told(blocks).at(-1)?.seq ?? 0;
    const withoutIds = (events: PagedEvent[]) => events.map(({ id: _, ...event }) => event);
    expect(until).toBeGreaterThanOrEqual(before.at(-1)?.seq ?? 0);
    expect(ended).toContain(over);
    expect(cuts).toBeGreaterThanOrEqual(50);
    expect(withoutIds(told(blocks))).toEqual(withoutIds(wanted.filter(({ seq }) => seq <= last)));
    for (const { id, seq } of told(blocks)) expect(id).toMatch(seq <= until ? `.${seq}.${until}` : /^\w+\.\d+$/);
  });

  test('gets everything after a pause in which the server had to hold back', async () => {
    const taskId = await createTask(server.url, 'ticker', { count: 400, everyMs: 5, padBytes: 40_000 });
    const path = `/v1/tasks/${taskId}/events`;
    const slow = openSocketReader(`${server.url}${path}`);
    await slow.opened;
    slow.pause();
    const fast = await openSseReader(`${server.url}${path}`);

    await fast.rest();
    const receivedInThePause = slow.blocks.length;
    slow.resume();

    expect(await slow.closed).toBe('over');
    expect(receivedInThePause).toBeLessThan(10);
    expectExactly(told(slow.blocks), await readLog(server.url, path));
    expect(slow.blocks.at(-1)?.event).toBe('end');
  });

  /**
   * Reads a stream over as many connections as it takes, each destroyed after a random number of bytes; each goes on
   * from the last block that came whole.
   *
   * @param isLast where to stop reading; without it, at the end of the stream
   */
  async function readInPieces(path: string, seed: number, isLast?: (block: SseBlock) => boolean) {
    const random = seeded(seed);
    const blocks: SseBlock[] = [];
    let cuts = 0;
    for (;;) {
      const cursor = blocks.findLast(({ id }) => id !== null)?.id ?? null;
      const cutAfterBytes = 1 + Math.floor(random() * 3500);
      const reader = openSocketReader(`${server.url}${path}`, { cursor, cutAfterBytes });
      const ending = await reader.closed;
      const last = isLast === undefined ? -1 : reader.blocks.findIndex(isLast);
      blocks.push(...(last < 0 ? reader.blocks : reader.blocks.slice(0, last + 1)));
      if (ending === 'over' || last >= 0) return { blocks, cuts };
      cuts += 1;
    }
  }
});

/** The log events among blocks, with their cursors. */
function told(blocks: readonly SseBlock[]): PagedEvent[] {
  return blocks
    .filter((block) => !isSignal(block))
    .map(({ id, data }) => ({ id: id ?? '', ...(JSON.parse(data ?? '') as LogEvent) }));
}

/** The same events with the same cursors, ascending, each once, and nothing after the one terminal event. */
function expectExactly(events: readonly PagedEvent[], log: readonly PagedEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
  expect(events).toEqual(log);
  expect(events.every(({ seq }, index) => seq > (events[index - 1]?.seq ?? 0))).toBe(true);
  expect(events.filter(isEnd)).toEqual([events.at(-1)]);
}

function endedBy(log: readonly PagedEvent[], seq: number): Set<string> {
  return new Set(log.filter((event) => isEnd(event) && event.seq <= seq).map(({ taskId }) => taskId));
}

function isEnd({ type }: PagedEvent): boolean {
  return type === 'task.completed' || type === 'task.failed' || type === 'task.cancelled';
}

function isOf(taskId: string): (block: SseBlock) => boolean {
  return ({ data }) => JSON.parse(data ?? '').taskId === taskId;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** The same numbers for the same seed, each from 0 to below 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
