import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, logEvents, type SseReader } from '../support/sse-reader.ts';
import { createStreamClient, EVERYTHING, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

let server: ServerProcess;
let client: StreamClient;

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
});
afterAll(() => server.stop());

function signals(reader: SseReader, name: string) {
  return reader.blocks.filter(isNamed(name));
}

describe('§5.3 caught-up', () => {
  test('comes once, after all that was on disk when the connection opened, and carries its cursor as id', async () => {
    const taskId = await client.play({ op: 'emit', count: 500 }, { op: 'ask' }, { op: 'emit', count: 500 });
    await client.asks(taskId);
    const log = await client.log(taskId);

    const reader = await client.open(taskId);
    const caughtUp = await reader.until(isNamed('caught-up'));
    const before = logEvents(reader.blocks);
    await client.answerNext(taskId);
    await reader.rest();

    expect(before.slice(0, log.length).map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
    expect(signals(reader, 'caught-up')).toHaveLength(1);
    expect(JSON.parse(caughtUp.data ?? '')).toEqual({ cursor: caughtUp.id });
    expect(caughtUp.id).toBe(log.at(-1)?.id);
  });

  test('has a cursor from which a stream goes on', async () => {
    const taskId = await client.play({ op: 'emit' }, { op: 'ask' }, { op: 'emit' });
    await client.asks(taskId);
    const first = await client.open(taskId);
    const { id } = await first.until(isNamed('caught-up'));
    first.close();

    await client.answerNext(taskId);
    const second = await client.open(taskId, '', { 'Last-Event-ID': id ?? '' });
    await second.rest();

    expectExactly([first.blocks, second.blocks], await client.log(taskId));
  });

  test('comes though the filter let nothing pass', async () => {
    const taskId = await client.play({ op: 'emit', count: 5 }, { op: 'ask' });
    await client.asks(taskId);

    const reader = await client.open(taskId, '?types=never.sent');

    expect(await reader.next()).toMatchObject({ event: 'caught-up', id: (await client.log(taskId)).at(-1)?.id });
    reader.close();
    await client.cancel(taskId);
  });
});

describe('§5.3 end, §5.4 how a stream ends', () => {
  test("comes once with the last event's id and `{}`, right after the terminal event, and the server closes", async () => {
    const taskId = await client.playOut({ op: 'emit', count: 3 });
    const log = await client.log(taskId);

    const reader = await client.open(taskId);
    await reader.rest();

    expectExactly([reader.blocks], log);
    expectOneEnd(log, await client.task(taskId));
    expect(signals(reader, 'end')).toEqual([expect.objectContaining({ id: log.at(-1)?.id, data: '{}' })]);
    expect(reader.blocks.at(-1)?.event).toBe('end');
  });

  test.each([
    ['completed', [{ op: 'ask' as const }], (id: string) => client.answerNext(id)],
    [
      'failed',
      [{ op: 'ask' as const }, { op: 'fail' as const, message: 'No.' }],
      (id: string) => client.answerNext(id),
    ],
    ['cancelled', [{ op: 'ask' as const }], async (id: string) => void (await client.cancel(id))],
  ])('[T4] is signalled live when the task is %s', async (status, ops, finish) => {
    const taskId = await client.play(...ops);
    await client.asks(taskId);
    const reader = await client.open(taskId);
    await reader.until(isNamed('caught-up'));

    await finish(taskId);
    await reader.rest();

    const log = await client.log(taskId);
    expectExactly([reader.blocks], log);
    expectOneEnd(log, await client.task(taskId));
    expect(log.at(-1)?.type).toBe(`task.${status}`);
    expect(reader.blocks.at(-1)).toMatchObject({ event: 'end', id: log.at(-1)?.id });
  });

  test.each(['', '?after=0'])("carries the last event's id also where `types` filtered that out: %j", async (start) => {
    const taskId = await client.playOut({ op: 'emit' });
    const log = await client.log(taskId);

    const reader = await client.open(taskId, `${start || '?'}&types=note.*`);
    await reader.rest();

    expect(logEvents(reader.blocks).map(({ type }) => type)).toEqual(['note.taken']);
    expect(reader.blocks.at(-1)).toMatchObject({ event: 'end', id: log.at(-1)?.id });
  });

  test('comes live to a reader whose filter lets the terminal event not pass', async () => {
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);
    const reader = await client.open(taskId, '?types=note.*');
    await reader.until(isNamed('caught-up'));

    await client.answerNext(taskId);
    const rest = await reader.rest();

    expect(rest).toEqual([expect.objectContaining({ event: 'end', id: (await client.log(taskId)).at(-1)?.id })]);
  });

  test('[T5] sends what is after the cursor, then `end`, when the task finished in between', async () => {
    const taskId = await client.playOut({ op: 'emit', count: 4 });
    const log = await client.log(taskId);

    for (const [index, { id }] of log.slice(0, -1).entries()) {
      const reader = await client.open(taskId, `?after=${id}`);
      await reader.rest();
      expectExactly([reader.blocks], log.slice(index + 1));
      expect(reader.blocks.at(-1)?.event).toBe('end');
    }
  });

  test('sends just `end` for `latest` on a finished task', async () => {
    const taskId = await client.playOut();

    const reader = await client.open(taskId, '?after=latest');
    const blocks = (await reader.rest()).filter(({ event }) => event !== 'caught-up');

    expect(blocks).toEqual([expect.objectContaining({ event: 'end', id: (await client.log(taskId)).at(-1)?.id })]);
  });

  test('is 204 without a body at and after the last event, whatever came to the log since', async () => {
    const taskId = await client.playOut({ op: 'emit' });
    const last = (await client.log(taskId)).at(-1)?.id;
    const later = (await client.log(await client.playOut())).at(-1)?.id;

    for (const cursor of [last, later]) {
      const { response } = await client.open(taskId, '', { 'Last-Event-ID': cursor ?? '' });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
    }
  });

  test('judges the validity of a cursor before it answers 204', async () => {
    const taskId = await client.playOut();
    const last = (await client.log(taskId)).at(-1);
    const [epoch] = last?.id.split('.') ?? [];

    const ahead = await client.open(taskId, `?after=${epoch}.9007199254740991`);
    const unknown = await client.open(taskId, `?after=zzzzzzzz.${last?.seq}`);

    expect((await ahead.until(isNamed('reset'))).data).toContain('"reason":"ahead"');
    expect((await unknown.until(isNamed('reset'))).data).toContain('"reason":"unknown"');
    expect((await ahead.rest()).at(-1)?.event).toBe('end');
    expect((await unknown.rest()).at(-1)?.event).toBe('end');
  });

  test("never comes on the owner's stream", async () => {
    const reader = await client.open(EVERYTHING, '?after=latest');
    await reader.until(isNamed('caught-up'));

    await client.playOut();
    await reader.until(isType('task.completed'));
    await client.playOut();
    await reader.until(isType('task.completed'));

    expect(signals(reader, 'end')).toEqual([]);
    reader.close();
  });
});

describe('§5.3 reset', () => {
  test('tells reason, what was asked and where it goes on, with that as its id, and goes on by rule 5.2.3', async () => {
    const taskId = await client.play({ op: 'emit' }, { op: 'ask' });
    await client.asks(taskId);
    const log = await client.log(taskId);

    const reader = await client.open(taskId, '', { 'Last-Event-ID': 'zzzzzzzz.3' });
    const reset = await reader.next();
    await reader.until(isNamed('caught-up'));

    const { resumeAfter, ...told } = JSON.parse(reset?.data ?? '');
    expect(reset).toMatchObject({ event: 'reset', id: resumeAfter });
    expect(told).toEqual({ reason: 'unknown', asked: 'zzzzzzzz.3' });
    expectExactly([reader.blocks], log);
    reader.close();

    const again = await client.open(taskId, `?after=${resumeAfter}`);
    await again.until(isNamed('caught-up'));
    expectExactly([again.blocks], log);
    again.close();
    await client.cancel(taskId);
  });

  test('of the stream of everything goes on with the retelling of what is unfinished', async () => {
    await client.playOut();
    const taskId = await client.play({ op: 'emit' }, { op: 'ask' }, { op: 'emit' });
    await client.asks(taskId);

    const reader = await client.open(EVERYTHING, '?after=zzzzzzzz.1.2');
    const reset = await reader.next();
    await reader.until(isNamed('caught-up'));

    const log = await client.log(taskId);
    expect(reset?.id).toMatch(/^[a-z0-9]{8}\.\d+\.\d+$/);
    expect(JSON.parse(reset?.data ?? '')).toEqual({ reason: 'unknown', asked: 'zzzzzzzz.1.2', resumeAfter: reset?.id });
    expectExactly([reader.blocks], log);
    reader.close();

    await client.answerNext(taskId);
    await client.ended(taskId);
    const resumed = await client.open(EVERYTHING, `?after=${reset?.id}`);
    await resumed.until(isNamed('caught-up'));
    expectExactly([resumed.blocks], await client.log(taskId));
    resumed.close();
  });

  test('says `ahead` for a place that the epoch never had', async () => {
    const head = (await client.log(EVERYTHING)).at(-1);
    const [epoch] = head?.id.split('.') ?? [];

    const reader = await client.open(EVERYTHING, `?after=${epoch}.${(head?.seq ?? 0) + 1}`);

    expect((await reader.next())?.data).toContain('"reason":"ahead"');
    reader.close();
  });
});
