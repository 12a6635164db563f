import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/api.ts';
import { type EventsPage, type PagedEvent, readPage } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, type SseBlock } from '../support/sse-reader.ts';
import { createStreamClient, EVERYTHING, pathOf, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

const MIB = 1024 * 1024;

let server: ServerProcess;
let client: StreamClient;

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
});
afterAll(() => server.stop());

function page(of: string, query = ''): Promise<EventsPage> {
  return readPage(client, pathOf(of), query);
}

describe('§5.6 pages', () => {
  test('hold {events, cursor, caughtUp, done}, each event with its `id`, the same as on the stream', async () => {
    const taskId = await client.playOut({ op: 'emit', count: 3 }, { op: 'step', name: 'charge' });
    const reader = await client.open(taskId);
    await reader.rest();

    const whole = await page(taskId);

    expectExactly([reader.blocks], whole.events);
    expect(whole.events.map(({ id }) => id)).toEqual(reader.blocks.slice(0, whole.events.length).map(({ id }) => id));
    expect(whole).toEqual({ events: whole.events, cursor: expect.any(String), caughtUp: true, done: true });
  });

  test.each([1, 2, 3, 7, 1000])('of at most %i events make up the log, each event once', async (limit) => {
    const taskId = await client.playOut({ op: 'emit', count: 10 });
    const log = await client.log(taskId);
    const pages: EventsPage[] = [];

    for (let after = '0'; !pages.at(-1)?.done; after = pages.at(-1)?.cursor ?? '') {
      pages.push(await page(taskId, `limit=${limit}&after=${after}`));
    }

    expect(pages.flatMap(({ events }) => events)).toEqual(log);
    expect(pages.every(({ events }) => events.length <= limit)).toBe(true);
    expect(pages.slice(0, -1).every(({ caughtUp, done }) => !caughtUp && !done)).toBe(true);
  });

  test('hold 100 events without a limit', async () => {
    const taskId = await client.playOut({ op: 'emit', count: 150 });

    const first = await page(taskId);

    expect(first.events).toHaveLength(100);
    expect(first).toMatchObject({ caughtUp: false, done: false });
  });

  test.each(['0', '-1', '1001', '1.5', 'x', '', '1e2', '0x10', ' 5', '5&limit=6'])('refuse limit=%j', async (limit) => {
    const answer = await client.get(`${EVERYTHING}?limit=${limit}`, { Accept: 'application/json' });

    expectProblem(answer, 400, 'invalid_request');
  });

  test.each(['-1', '60.1', '61', 'x', '', '1e1', '0x10', 'Infinity'])('refuse wait=%j', async (wait) => {
    const answer = await client.get(`${EVERYTHING}?wait=${wait}`, { Accept: 'application/json' });

    expectProblem(answer, 400, 'invalid_request');
  });

  test.each([
    ['ASCII', 'x'.repeat(60_000)],
    ['text of many bytes a character', '漢'.repeat(20_000)],
  ])('hold at most 1 MiB of %s', async (_name, text) => {
    const taskId = await client.playOut({ op: 'emit', count: 40, data: { text } });
    const log = await client.log(taskId);
    const texts: string[] = [];
    const events: PagedEvent[] = [];

    for (let after = '0', caughtUp = false; !caughtUp; ) {
      const answer = await client.get<EventsPage>(`${pathOf(taskId)}?limit=1000&after=${after}`, {
        Accept: 'application/json',
      });
      texts.push(answer.text);
      events.push(...answer.body.events);
      ({ cursor: after, caughtUp } = answer.body);
    }

    expect(texts.every((body) => Buffer.byteLength(body) <= MIB)).toBe(true);
    expect(texts.length).toBe(3);
    expect(events).toEqual(log);
  });

  test('hold at least one event, though it alone is larger', async () => {
    const taskId = await client.playOut({ op: 'say', text: '"', times: 600_000 });
    const events: PagedEvent[] = [];

    for (let after = '0', caughtUp = false; !caughtUp; ) {
      const next = await page(taskId, `limit=1000&after=${after}`);
      expect(next.events.length).toBeGreaterThan(0);
      events.push(...next.events);
      ({ cursor: after, caughtUp } = next);
    }

    expect(events.find(({ type }) => type === 'message.completed')?.data.message.content).toHaveLength(600_000);
  });

  test('move their cursor on though nothing passes the filter', async () => {
    const taskId = await client.play({ op: 'emit', count: 600 }, { op: 'ask' });
    await client.asks(taskId);
    const log = await client.log(taskId);

    const filtered = await page(taskId, 'types=never.sent');

    expect(filtered).toEqual({ events: [], cursor: expect.any(String), caughtUp: true, done: false });
    expect(Number(filtered.cursor.split('.')[1])).toBeGreaterThanOrEqual(log.at(-1)?.seq ?? Infinity);
    await client.cancel(taskId);
  });

  test('are done and empty for a cursor that the stream answers with 204', async () => {
    const taskId = await client.playOut();
    const { cursor } = await page(taskId);

    const over = await page(taskId, `after=${cursor}&wait=60`);

    expect(over).toMatchObject({ events: [], done: true });
    expect((await client.open(taskId, `?after=${cursor}`)).response.status).toBe(204);
  });

  test('are 410 with reason and resumeAfter for a cursor that the stream resets', async () => {
    const taskId = await client.playOut({ op: 'emit' });

    const gone = await client.get<{ resumeAfter: string }>(`${pathOf(taskId)}?after=zzzzzzzz.1`, {
      Accept: 'application/json',
    });
    const again = await page(taskId, `after=${gone.body.resumeAfter}`);

    expect(gone).toMatchObject({ status: 410, body: { code: 'cursor_gone', reason: 'unknown', status: 410 } });
    expect(again.events).toEqual(await client.log(taskId));
  });

  test('take the same `latest`', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);

    const { cursor, ...rest } = await page(taskId, 'after=latest');
    await client.answerNext(taskId);
    await client.ended(taskId);

    expect(rest).toEqual({ events: [], caughtUp: true, done: false });
    expect((await page(taskId, `after=${cursor}`)).events.map(({ type }) => type)).toEqual([
      'question.answered',
      'task.resumed',
      'task.completed',
    ]);
  });

  test('[T7] and streams may be changed between at any cursor', async () => {
    const taskId = await client.playOut({ op: 'emit', count: 12 }, { op: 'say', text: 'Hello.' });
    const log = await client.log(taskId);
    const told: SseBlock[] = [];
    let after = '0';

    for (let turn = 0; ; turn++) {
      if (turn % 2 === 0) {
        const { events, cursor, done } = await page(taskId, `limit=3&after=${after}`);
        told.push(...events.map(asBlock));
        after = cursor;
        if (done) break;
      } else {
        const reader = await client.open(taskId, `?after=${after}`);
        const block = await reader.next();
        reader.close();
        if (block === null || block.event === 'end') break;
        told.push(block);
        after = block.id ?? '';
      }
    }

    expect(told.map(({ data }) => JSON.parse(data ?? ''))).toEqual(log.map(({ id, ...event }) => event));
  });
});

describe('§5.6 long polling', () => {
  test('holds the request until an event passes the filter', async () => {
    const taskId = await client.play({ op: 'ask' }, { op: 'emit', count: 2 }, { op: 'ask', name: 'again' });
    await client.asks(taskId);
    const { cursor } = await page(taskId, 'after=latest');

    const waiting = page(taskId, `after=${cursor}&types=note.*&wait=60`);
    await client.answerNext(taskId);
    const { events } = await waiting;

    expect(events.length).toBeGreaterThanOrEqual(1);
    expect(events[0]).toMatchObject({ type: 'note.taken', data: { n: 0 } });
    await client.cancel(taskId);
  });

  test('gives up when the time is over, with a cursor to go on from', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);

    const startedAt = performance.now();
    const empty = await page(taskId, 'after=latest&wait=0.3');
    const tookMs = performance.now() - startedAt;

    expect(empty).toMatchObject({ events: [], caughtUp: true, done: false });
    expect(tookMs).toBeGreaterThanOrEqual(290);
    await client.cancel(taskId);
    expect((await page(taskId, `after=${empty.cursor}`)).done).toBe(true);
  });

  test('does not wait where there is something already', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);

    const { events } = await page(taskId, 'wait=60');

    expect(events.length).toBeGreaterThan(0);
    await client.cancel(taskId);
  });

  test('ends when the task does, though the filter lets nothing pass', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);
    const { cursor } = await page(taskId, 'after=latest');

    const waiting = page(taskId, `after=${cursor}&types=never.sent&wait=60`);
    await client.cancel(taskId);

    expect(await waiting).toMatchObject({ events: [], done: true });
  });

  test('tells a whole task in turns, each event once', async () => {
    const taskId = await client.play({ op: 'emit', count: 400 }, { op: 'say', text: 'Done.' });
    const events: PagedEvent[] = [];

    for (let after = '0', done = false; !done; ) {
      const next = await page(taskId, `after=${after}&wait=60&limit=50`);
      events.push(...next.events);
      ({ cursor: after, done } = next);
    }

    expect(events).toEqual(await client.log(taskId));
  });
});

describe('§5 ?types=', () => {
  const typesOf = async (taskId: string, query: string) => {
    const reader = await client.open(taskId, query);
    const blocks = await reader.rest();
    return blocks.filter(({ event }) => event === null).map(({ data }) => JSON.parse(data ?? '').type);
  };

  test('takes exact names and prefixes, separated by commas or repeated', async () => {
    const taskId = await client.playOut({ op: 'emit' }, { op: 'step', name: 'charge' }, { op: 'say', text: 'Hi.' });

    const streamed = await typesOf(taskId, '?types=step.*,note.taken');
    const repeated = await typesOf(taskId, '?types=step.*&types=note.taken');
    const paged = (await page(taskId, 'types=step.*,note.taken')).events.map(({ type }) => type);

    expect(new Set(streamed)).toEqual(new Set(['note.taken', 'step.started', 'step.completed']));
    expect(repeated).toEqual(streamed);
    expect(paged).toEqual(streamed);
  });

  test('means the whole of a segment by a prefix', async () => {
    const taskId = await client.playOut({ op: 'emit', type: 'note.taken' }, { op: 'emit', type: 'notes.taken' });

    expect(await typesOf(taskId, '?types=note.*')).toEqual(['note.taken']);
    expect(await typesOf(taskId, '?types=notes.take')).toEqual([]);
  });

  test('is of the request: resuming with another filter hides only what that one hides', async () => {
    const taskId = await client.playOut({ op: 'emit', count: 2 }, { op: 'step', name: 'charge' });
    const log = await client.log(taskId);
    const first = await client.open(taskId, '?types=task.*');
    const started = await first.until(({ data }) => data?.includes('task.started') === true);
    first.close();

    const second = await typesOf(taskId, `?types=note.*,task.*&after=${started.id}`);

    const after = log.filter(({ seq }) => seq > JSON.parse(started.data ?? '').seq);
    expect(second).toEqual(after.map(({ type }) => type).filter((type) => /^(note|task)\./.test(type)));
  });

  test('takes up to 20', async () => {
    const taskId = await client.playOut();
    const types = (count: number) => Array.from({ length: count }, (_, n) => `note.n${n}`).join(',');

    expect(await typesOf(taskId, `?types=${types(20)}`)).toEqual([]);
    expectProblem(await client.get(`${pathOf(taskId)}?types=${types(21)}`), 400, 'invalid_request');
    expectProblem(await client.get(`${pathOf(taskId)}?types=${types(11)}&types=${types(10)}`), 400, 'invalid_request');
  });

  test.each([
    '',
    '*',
    'task',
    '*.completed',
    'task.*.x',
    'task.**',
    'task*',
    'task.',
    '.task',
    'task..x',
    'Task.completed',
    'task.completed,',
    ',task.completed',
    'task.completed, task.failed',
    'task.completed\0',
    'täsk.completed',
    `a.${'b'.repeat(63)}`,
  ])('refuses %j with 400 before the stream starts, and on pages', async (types) => {
    const query = `?types=${encodeURIComponent(types)}`;

    expectProblem(await client.get(`${EVERYTHING}${query}`), 400, 'invalid_request');
    expectProblem(await client.get(`${EVERYTHING}${query}`, { Accept: 'application/json' }), 400, 'invalid_request');
  });

  test('leaves `caught-up` and `end` alone', async () => {
    const taskId = await client.playOut();
    const reader = await client.open(taskId, '?types=never.sent');

    await reader.rest();

    expect(reader.blocks.filter(isNamed('end'))).toHaveLength(1);
  });
});

function asBlock({ id, ...event }: PagedEvent): SseBlock {
  return { id, event: null, data: JSON.stringify(event), retry: null, comments: [], at: 0 };
}
