import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PagedEvent, readPage } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, logEvents, type SseReader } from '../support/sse-reader.ts';
import { createStreamClient, EVERYTHING, pathOf, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

let server: ServerProcess;
let client: StreamClient;
/** A task that waits, with events before: its stream stays open. */
let path: string;
let log: PagedEvent[];

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
  const taskId = await client.play({ op: 'emit', count: 5 }, { op: 'ask' });
  await client.asks(taskId);
  path = pathOf(taskId);
  log = await client.log(path);
});
afterAll(() => server.stop());

function open(query: string, headers: Record<string, string> = {}, of = path): Promise<SseReader> {
  return client.open(of, query, headers);
}

/** The seqs that a reader is told until it has caught up. */
async function seqsUntilCaughtUp(reader: SseReader): Promise<number[]> {
  await reader.until(isNamed('caught-up'));
  reader.close();
  return logEvents(reader.blocks).map(({ seq }) => seq);
}

function seqsAfter(index: number): number[] {
  return log.slice(index + 1).map(({ seq }) => seq);
}

function idAt(index: number): string {
  return log.at(index)?.id ?? '';
}

describe('§5.2.1 which cursor counts', () => {
  test('takes ?after=', async () => {
    expect(await seqsUntilCaughtUp(await open(`?after=${idAt(2)}`))).toEqual(seqsAfter(2));
  });

  test('takes ?lastEventId= for ?after=', async () => {
    expect(await seqsUntilCaughtUp(await open(`?lastEventId=${idAt(2)}`))).toEqual(seqsAfter(2));
  });

  test('takes ?lastEventId= where ?after= is empty', async () => {
    expect(await seqsUntilCaughtUp(await open(`?after=&lastEventId=${idAt(2)}`))).toEqual(seqsAfter(2));
  });

  test('takes ?after= before ?lastEventId=', async () => {
    expect(await seqsUntilCaughtUp(await open(`?lastEventId=${idAt(0)}&after=${idAt(2)}`))).toEqual(seqsAfter(2));
  });

  test('lets the Last-Event-ID win over the old URL of a browser that reconnects', async () => {
    const reader = await open(`?after=${idAt(0)}&lastEventId=${idAt(1)}`, { 'Last-Event-ID': idAt(3) });

    expect(await seqsUntilCaughtUp(reader)).toEqual(seqsAfter(3));
  });

  test('takes an empty Last-Event-ID for none', async () => {
    const reader = await open(`?after=${idAt(2)}`, { 'Last-Event-ID': '' });

    expect(await seqsUntilCaughtUp(reader)).toEqual(seqsAfter(2));
  });

  test('takes an empty ?after= for none', async () => {
    expect(await seqsUntilCaughtUp(await open('?after='))).toEqual(seqsAfter(-1));
  });

  test('refuses a malformed Last-Event-ID though the URL has a good cursor', async () => {
    const reader = await open(`?after=${idAt(2)}`, { 'Last-Event-ID': 'nonsense' });

    expect(reader.response.status).toBe(400);
  });
});

describe('§5.2.2 what a cursor means', () => {
  test('begins at the first event of the task for `0`', async () => {
    expect(await seqsUntilCaughtUp(await open('?after=0'))).toEqual(seqsAfter(-1));
  });

  test('begins at the first event of the log for `0`, finished tasks included', async () => {
    await client.playOut({ op: 'emit' });
    const whole = await client.log(EVERYTHING);

    const reader = await open('?after=0', {}, EVERYTHING);
    await reader.until(isNamed('caught-up'));
    reader.close();

    expect(whole[0]?.seq).toBe(1);
    expectExactly([reader.blocks], whole);
  });

  test('sends only what comes from now on for `latest`', async () => {
    const reader = await open('?after=latest', {}, EVERYTHING);
    const caughtUp = await reader.until(isNamed('caught-up'));
    const earlier = logEvents(reader.blocks);

    const taskId = await client.play();
    const created = await reader.until(isType('task.created'));

    expect(earlier).toEqual([]);
    expect(JSON.parse(created.data ?? '').taskId).toBe(taskId);
    expect(JSON.parse(created.data ?? '').seq).toBe(Number(caughtUp.id?.split('.')[1]) + 1);
    reader.close();
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7])('goes on behind event %i of a task, each after it once', async (index) => {
    expect(await seqsUntilCaughtUp(await open(`?after=${idAt(index)}`))).toEqual(seqsAfter(index));
  });

  test("takes the cursor of another task's event, for they are places in one log", async () => {
    const [first] = await client.log(await client.playOut());

    expect(await seqsUntilCaughtUp(await open(`?after=${first?.id}`))).toEqual([]);
  });

  test('ignores the `until` of a retelling on the stream of a task', async () => {
    const [epoch, seq] = idAt(2).split('.');
    const until = log.at(-1)?.seq;

    expect(await seqsUntilCaughtUp(await open(`?after=${epoch}.${seq}.${until}`))).toEqual(seqsAfter(2));
  });

  test('serves the cursors of REST reads: `cursor.before`, `cursor.last` and Holdfast-Cursor (§2)', async () => {
    const response = await fetch(`${server.url}${path.replace('/events', '')}`);
    const { cursor } = (await response.json()) as { cursor: { before: string; last: string } };

    expect(await seqsUntilCaughtUp(await open(`?after=${cursor.before}`))).toEqual(seqsAfter(-1));
    expect(await seqsUntilCaughtUp(await open(`?after=${cursor.last}`))).toEqual([]);
    expect(await seqsUntilCaughtUp(await open(`?after=${response.headers.get('Holdfast-Cursor')}`))).toEqual([]);
  });
});

describe('§5.2.3 a stream of a task without a cursor', () => {
  test('begins at its first event, in plain ids', async () => {
    const reader = await open('');
    await reader.until(isNamed('caught-up'));
    reader.close();

    expectExactly([reader.blocks], log);
    expect(reader.blocks.slice(0, -1).map(({ id }) => id)).toEqual(log.map(({ id }) => id));
  });
});

const EPOCH = 'abcdefgh';
const malformed = [
  'nonsense',
  '1',
  '-1',
  '00',
  '0.0',
  'Latest',
  ' 0',
  '0 ',
  'latest ',
  EPOCH,
  `${EPOCH}.`,
  `${EPOCH}.-1`,
  `${EPOCH}.+1`,
  `${EPOCH}.01`,
  `${EPOCH}.00`,
  `${EPOCH}.1e3`,
  `${EPOCH}.0x10`,
  `${EPOCH}.1.`,
  `${EPOCH}.1.-2`,
  `${EPOCH}.1.02`,
  `${EPOCH}.1.2.3`,
  `${EPOCH}..1`,
  `${EPOCH}.1..2`,
  `.1`,
  `${EPOCH} .1`,
  `${EPOCH}. 1`,
  `${EPOCH}.1 `,
  `${EPOCH},1`,
  `ABCDEFGH.1`,
  `abcdefg.1`,
  `abcdefghi.1`,
  `${EPOCH}.9007199254740992`,
  `${EPOCH}.1.9007199254740992`,
  `${EPOCH}.99999999999999999999`,
  `${EPOCH}.١`,
  `${EPOCH}.½`,
  `${EPOCH}.1\0`,
  `\0${EPOCH}.1`,
  `${EPOCH}.1\r`,
  `${EPOCH}.1\n`,
  `0\n`,
  `latest\n`,
  `${EPOCH}.1\r\nX: y`,
  `${EPOCH}.${'1'.repeat(56)}`,
  'x'.repeat(65),
  '0'.repeat(65),
  'é'.repeat(33),
  `{"epoch":"${EPOCH}"}`,
];

describe('§5.2.4 a malformed cursor', () => {
  test.each(malformed)('is 400 before the stream starts: %j', async (text) => {
    const response = await fetch(`${server.url}${path}?after=${encodeURIComponent(text)}`);

    expect(response.status).toBe(400);
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  test.each(['lastEventId', 'after'])('is 400 as ?%s=, on a page, and on the log of everything', async (name) => {
    const headers = { Accept: 'application/json' };

    expect((await fetch(`${server.url}${path}?${name}=nonsense`)).status).toBe(400);
    expect((await fetch(`${server.url}${path}?${name}=nonsense`, { headers })).status).toBe(400);
    expect((await fetch(`${server.url}/v1/events?${name}=nonsense`)).status).toBe(400);
  });

  test.each(['nonsense', `${EPOCH}.01`, `${EPOCH}.1.2.3`, '\xe9'])('is 400 as Last-Event-ID: %j', async (text) => {
    const response = await fetch(`${server.url}${path}`, { headers: { 'Last-Event-ID': text } });

    expect(response.status).toBe(400);
  });

  test('is 404 first where the task is unknown (§2)', async () => {
    const response = await fetch(`${server.url}/v1/tasks/task_00000000000000000000000000/events?after=nonsense`);

    expect(response.status).toBe(404);
  });

  test('is none below 2^53: the largest is a well-formed cursor that is ahead', async () => {
    const [epoch] = idAt(0).split('.');

    const reader = await open(`?after=${epoch}.9007199254740991`);

    const reset = await reader.until(isNamed('reset'));
    expect(JSON.parse(reset.data ?? '')).toMatchObject({ reason: 'ahead' });
    reader.close();
  });
});

describe('§5.5 errors before the stream starts', () => {
  test.each(['task_00000000000000000000000000', 'task_0', 'nonsense', 'qst_00000000000000000000000000'])(
    'answers 404 for the unknown task %s',
    async (id) => {
      const response = await fetch(`${server.url}/v1/tasks/${id}/events`);

      expect(response.status).toBe(404);
      expect(response.headers.get('Content-Type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({ code: 'not_found', status: 404 });
    },
  );

  test('answers 405 with Allow for POST (§2)', async () => {
    const response = await fetch(`${server.url}${path}`, { method: 'POST' });

    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toContain('GET');
  });
});

describe('§2 unknown query parameters', () => {
  test('are ignored on streams, since clients add their own', async () => {
    const query = '?_=1733&token&utm_source=x&limit=nonsense&wait=nonsense';

    expect(await seqsUntilCaughtUp(await open(query))).toEqual(seqsAfter(-1));
  });

  test('are ignored on pages of the same address', async () => {
    expect(await readPage(client, path, '_=1733')).toMatchObject({ caughtUp: true });
  });
});
