import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, type LogEvent, logEvents, type SseReader } from '../support/sse-reader.ts';
import type { Op } from './stream-agents.ts';
import { createStreamClient, EVERYTHING, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

let server: ServerProcess;
let client: StreamClient;

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
});
afterAll(() => server.stop());

/** The whole stream of a task, to its end. */
async function readAll(taskId: string, query = ''): Promise<SseReader> {
  const reader = await client.open(taskId, query);
  await reader.rest();
  return reader;
}

/** Plays a script, and reads it both while it plays and when it is over; `ask` is answered at once. */
async function playBothWays(...ops: Op[]): Promise<{ live: SseReader; back: SseReader }> {
  const taskId = await client.play({ op: 'ask', name: 'begin' }, ...ops);
  await client.asks(taskId);
  const live = await client.open(taskId);
  await live.until(isNamed('caught-up'));
  await client.answerNext(taskId);
  for (const each of ops) if (each.op === 'ask') await client.answerNext(taskId);
  await live.rest();
  return { live, back: await readAll(taskId) };
}

describe('§5.3 a log event', () => {
  test('is an unnamed message: one line of JSON with seq, type, taskId, conversationId, at and data, then its id', async () => {
    const taskId = await client.play({ op: 'emit', data: { city: 'Lisbon' } });
    const reader = await readAll(taskId);

    const frame = reader.text.split('\n\n').find((block) => block.includes('"note.taken"'));

    expect(frame).toMatch(/^data: \{"seq":\d+,"type":"note.taken",.*\}\nid: [a-z0-9]{8}\.\d+$/);
    const [event] = logEvents(reader.blocks).filter(({ type }) => type === 'note.taken');
    expect(event).toEqual({
      seq: expect.any(Number),
      type: 'note.taken',
      taskId,
      conversationId: null,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { n: 0, city: 'Lisbon' },
    });
  });

  test('is the same bytes live and replayed', async () => {
    const { live, back } = await playBothWays({ op: 'emit', count: 20 }, { op: 'say', text: 'Hello there.' });

    const frames = (text: string) =>
      text.split('\n\n').filter((block) => /^id: /m.test(block) && !/^event: /m.test(block));
    const bare = (text: string) => frames(text).map((block) => block.replace(/^: ok\nretry: \d+\n/, ''));
    expect(bare(live.text)).toEqual(bare(back.text));
    expect(bare(live.text).length).toBeGreaterThan(25);
  });

  test('of a step has `step` beside `data`', async () => {
    const reader = await readAll(await client.play({ op: 'step', name: 'charge' }, { op: 'step', name: 'charge' }));

    const notes = logEvents(reader.blocks).filter(({ type }) => type === 'note.taken');
    expect(notes.map(({ step }) => step)).toEqual([
      { name: 'charge', attempt: 1 },
      { name: 'charge#2', attempt: 1 },
    ]);
    expect(logEvents(reader.blocks).filter(({ type }) => type.startsWith('task.'))).not.toContainEqual(
      expect.objectContaining({ step: expect.anything() }),
    );
  });

  test.each([
    ['a carriage return and line feeds', 'one\rtwo\r\nthree\n\ndata: four'],
    ['line separators of JavaScript', 'one\u2028two\u2029three\u0085four'],
    ['a field of a stream', '\n\nevent: end\ndata: {}\n\n'],
    ['emoji and other pairs', '👩‍👩‍👧‍👦 𝒜 🇵🇹'.repeat(200)],
    ['NUL and other control characters', '\0\u0001\u0007\u001b[31m\u007f'],
    ['a byte order mark', '\ufeffbegins'],
    ['half a pair', 'cut \ud83d off'],
    ['HTML and quotes', '<script>"\'\\</script>'],
    ['nothing', ''],
  ])('keeps %s whole, live and replayed', async (_name, text) => {
    const { live, back } = await playBothWays({ op: 'emit', data: { text } }, { op: 'say', text });

    for (const reader of [live, back]) {
      const events = logEvents(reader.blocks);
      const deltas = events.filter(({ type }) => type === 'message.delta');
      expect(events.find(({ type }) => type === 'note.taken')?.data.text).toBe(text);
      expect(deltas.map(({ data }) => data.text).join('')).toBe(text);
      expect(events.at(-1)?.type).toBe('task.completed');
    }
  });

  test('never cuts text inside a code point, however long it is', async () => {
    const text = '🙂'.repeat(60_000);
    const reader = await readAll(await client.play({ op: 'say', text }));

    const pieces = logEvents(reader.blocks)
      .filter(({ type }) => type === 'message.delta')
      .map(({ data }) => data.text);

    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join('')).toBe(text);
  });
});

describe('§5.3 the names of events', () => {
  const own = ['error.x', 'open.x', 'message-like.x', 'end.x', 'reset.x', 'bye.x', 'caught-up.x'];

  test("leave an agent's `error.x` and its like unnamed, and ?event=type names them in full", async () => {
    const ops = own.map((type) => ({ op: 'emit', type }) as const);
    const taskId = await client.play(...ops);

    const unnamed = await readAll(taskId);
    const named = await readAll(taskId, '?event=type');

    const isOwn = ({ data }: { data: string | null }) => own.includes(JSON.parse(data ?? '').type);
    expect(unnamed.blocks.filter(isOwn).map(({ event }) => event)).toEqual(own.map(() => null));
    expect(named.blocks.filter(isOwn).map(({ event }) => event)).toEqual(own);
  });

  test('are never `error`, `open` or `message`, for an agent cannot emit those', async () => {
    const types = ['error', 'open', 'message', 'end', 'message.delta', 'task.completed', 'Error.x', 'error.'];
    const taskId = await client.play(...types.map((type) => ({ op: 'emit', type }) as const));
    const task = await client.ended(taskId);
    const log = await client.log(taskId);

    const named = await readAll(taskId, '?event=type');

    expect(task.output).toEqual({ refused: types });
    expectExactly([named.blocks], log);
  });

  test('?event=type adds the type to each event, live and replayed, and to nothing else', async () => {
    const taskId = await client.play({ op: 'emit' }, { op: 'ask' }, { op: 'emit' });
    await client.asks(taskId);
    const live = await client.open(taskId, '?event=type');
    await live.until(isNamed('caught-up'));
    await client.answerNext(taskId);
    await live.rest();

    const log = await client.log(taskId);
    const ofLog = live.blocks.filter(({ event }) => event !== 'caught-up' && event !== 'end');
    expect(ofLog.map(({ event }) => event)).toEqual(log.map(({ type }) => type));
    expectExactly([live.blocks], log);
  });
});

describe('§5.3 the first lines of a connection', () => {
  test('are `: ok` and a `retry:`, with no blank line before the first block', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);

    const reader = await client.open(taskId);
    await reader.next();

    expect(reader.text).toMatch(/^: ok\nretry: \d+\ndata: \{.*\}\nid: [a-z0-9.]+\n\n/);
    reader.close();
  });

  test('leave at once where there is no event to send', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);

    const reader = await client.open(taskId, '?after=latest');
    const first = await reader.next();

    expect(first).toMatchObject({ event: 'caught-up', comments: ['ok'], retry: expect.stringMatching(/^\d{4}$/) });
    reader.close();
  });

  test('spread the reconnects over 1 to 5 seconds', async () => {
    const taskId = await client.play();
    await client.ended(taskId);

    const readers = await Promise.all(Array.from({ length: 30 }, () => readAll(taskId)));

    const retries = readers.map(({ blocks }) => Number(blocks[0]?.retry));
    expect(Math.min(...retries)).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...retries)).toBeLessThanOrEqual(5000);
    expect(new Set(retries).size).toBeGreaterThan(15);
  });
});

describe('§5.3 order', () => {
  test('puts the cause first within a transaction: asked before waiting, answered before resumed', async () => {
    const { live } = await playBothWays({ op: 'ask', name: 'again' });

    const events = logEvents(live.blocks);
    expect(events.map(({ type }) => type)).toEqual([
      'task.created',
      'task.started',
      ...['question.asked', 'task.waiting', 'question.answered', 'task.resumed'],
      ...['question.asked', 'task.waiting', 'question.answered', 'task.resumed'],
      'task.completed',
    ]);
    expect(events[4]?.at).toBe(events[5]?.at);
  });

  test('[T4] gives two tabs all of it, each the whole log in order, whenever they come', async () => {
    const taskId = await client.play({ op: 'emit', count: 300 }, { op: 'ask' }, { op: 'emit', count: 300 });
    const early = await client.open(taskId);
    await client.asks(taskId);
    const late = await client.open(taskId);
    await late.until(isNamed('caught-up'));

    await client.answerNext(taskId);
    await Promise.all([early.rest(), late.rest()]);

    const log = await client.log(taskId);
    expectExactly([early.blocks], log);
    expectExactly([late.blocks], log);
    expectOneEnd(log, await client.ended(taskId));
  });

  test('[T9] keeps two tasks apart that run at the same time', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => client.play({ op: 'emit', count: 200 })));

    const readers = await Promise.all(ids.map((id) => readAll(id)));

    const everything = await client.log(EVERYTHING);
    for (const [index, id] of ids.entries()) {
      const reader = readers[index];
      expectExactly(
        [reader?.blocks ?? []],
        everything.filter(({ taskId }) => taskId === id),
      );
    }
  });

  test('gives seqs without gaps to everything of an owner', async () => {
    const everything: LogEvent[] = await client.log(EVERYTHING);

    expect(everything.map(({ seq }) => seq)).toEqual(everything.map((_, index) => index + 1));
  });

  test('sends a new event at once, without waiting for the next or a keepalive', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);
    const reader = await client.open(taskId, '?after=latest');
    await reader.until(isNamed('caught-up'));

    const answeredAt = performance.now();
    await client.answerNext(taskId);
    const block = await reader.until(isType('question.answered'));

    expect(block.at - answeredAt).toBeLessThan(1000);
    await reader.rest();
  });
});
