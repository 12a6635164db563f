import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PagedEvent, readPage } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isSignal, isType, logEvents, type SseReader } from '../support/sse-reader.ts';
import { createStreamClient, EVERYTHING, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

const note = { op: 'emit' } as const;
const ask = { op: 'ask' } as const;

let server: ServerProcess;
let client: StreamClient;

beforeAll(async () => {
  server = await startServerProcess({ agents: STREAM_AGENTS });
  client = createStreamClient(server.url);
});
afterAll(() => server.stop());

function open(query = ''): Promise<SseReader> {
  return client.open(EVERYTHING, query);
}

/** Opens the stream as a page does that knows nothing, and reads until it has caught up. */
async function retell(query = ''): Promise<SseReader> {
  const reader = await open(query);
  await reader.until(isNamed('caught-up'));
  return reader;
}

/** Creates a task that has come to its question, and emits once more when it is answered. */
async function startWaiting(notes = 1): Promise<string> {
  const id = await client.play({ ...note, count: notes }, ask, note);
  await client.asks(id);
  return id;
}

async function end(taskId: string): Promise<void> {
  await client.answerNext(taskId);
  await client.ended(taskId);
}

function ofTasks(log: PagedEvent[], ...ids: string[]): PagedEvent[] {
  return log.filter(({ taskId }) => ids.includes(taskId));
}

describe('§5.2.3 a stream of everything without a cursor', () => {
  test('tells nothing of finished tasks, and begins at the head where nothing is unfinished', async () => {
    await client.playOut(note);
    const { head } = headOf(await client.log(EVERYTHING));

    const reader = await retell();

    expect(logEvents(reader.blocks)).toEqual([]);
    expect(reader.blocks.at(-1)?.id).toBe(head);
    reader.close();
  });

  test('tells all so far of each unfinished task, in log order, between finished ones', async () => {
    const done = await client.playOut(note);
    const first = await startWaiting(3);
    const between = await client.playOut(note);
    const second = await startWaiting(2);
    const log = await client.log(EVERYTHING);

    const reader = await retell();

    expectExactly([reader.blocks], ofTasks(log, first, second));
    expect(ofTasks(log, done, between)).not.toHaveLength(0);
    reader.close();
    await end(first);
    await end(second);
  });

  test('writes ids `<epoch>.<seq>.<until>` until it has come to the head of its beginning, then plain ones', async () => {
    const task = await startWaiting();
    const { head, seq: until } = headOf(await client.log(EVERYTHING));
    const epoch = head.split('.')[0];

    const reader = await retell();
    const retold = reader.blocks.filter((block) => !isSignal(block));
    await end(task);
    const live = await reader.until(isType('task.completed'));

    const seqs = logEvents(retold).map(({ seq }) => seq);
    expect(retold.map(({ id }) => id)).toEqual(seqs.map((seq) => `${epoch}.${seq}.${until}`));
    expect(reader.blocks[retold.length]).toMatchObject({ event: 'caught-up', id: head });
    expect(live.id).toMatch(/^[a-z0-9]{8}\.\d+$/);
    reader.close();
  });

  test('goes on with everything, tasks that are created later included', async () => {
    const task = await startWaiting();
    const reader = await retell();

    const later = await client.playOut(note);
    await reader.until(isType('task.completed'));

    const log = await client.log(EVERYTHING);
    expectExactly([reader.blocks], ofTasks(log, task, later));
    reader.close();
    await end(task);
  });

  test('[Q3] shows the pending question again, whole, as REST has it', async () => {
    const task = await startWaiting();

    const reader = await retell();

    const asked = logEvents(reader.blocks).filter(({ type }) => type === 'question.asked');
    expect(asked.map(({ data }) => data.question)).toEqual([await client.pendingQuestion(task)]);
    expect(asked[0]?.data.question).toMatchObject({ taskId: task, metadata: { asked: 'go' } });
    reader.close();
    await end(task);
  });

  test('[T5] sends the running text of an unfinished task again', async () => {
    const id = await client.play({ op: 'say', text: 'A weekend in Lisbon!' }, ask);
    await client.asks(id);

    const reader = await retell();

    const events = logEvents(reader.blocks);
    expect(
      events
        .filter(({ type }) => type === 'message.delta')
        .map(({ data }) => data.text)
        .join(''),
    ).toBe('A weekend in Lisbon!');
    expect(events.find(({ type }) => type === 'message.completed')?.data.message.content).toBe('A weekend in Lisbon!');
    reader.close();
    await end(id);
  });

  test('[T5] tells a task to its end that finishes while it is told, also when it had ended before a resume', async () => {
    const finishing = await startWaiting(3);
    const staying = await startWaiting(1);
    const first = await open();
    const cut = await first.next();
    first.close();

    await end(finishing);
    const second = await open(`?after=${cut?.id}`);
    await second.until(isNamed('caught-up'));

    const log = await client.log(EVERYTHING);
    expectExactly([first.blocks.slice(0, 1), second.blocks], ofTasks(log, finishing, staying));
    second.close();
    await end(staying);
  });

  test('resumes exactly from any of its ids, as often as one likes', async () => {
    await client.playOut(note);
    const [one, two] = [await startWaiting(2), await startWaiting(2)];
    await client.playOut(note);
    const whole = await retell();
    whole.close();
    const ids = whole.blocks.map(({ id }) => id);

    const seen: (string | null)[][] = [];
    for (const id of ids) {
      const resumed = await retell(`?after=${id}`);
      resumed.close();
      seen.push(resumed.blocks.map((block) => block.id));
    }

    expect(whole.blocks.length).toBeGreaterThan(10);
    // The last id is that of `caught-up`, which every connection is told.
    expect(seen).toEqual(ids.map((_, index) => (index === ids.length - 1 ? ids.slice(index) : ids.slice(index + 1))));
    await end(one);
    await end(two);
  });

  test('stays exact for a reader that is cut after each single block, while work goes on', async () => {
    const task = await startWaiting(3);
    const connections: SseReader[] = [];
    let after = '';

    for (let told = 0; ; told++) {
      if (told === 2) await client.answerNext(task);
      const reader = await open(after === '' ? '' : `?after=${after}`);
      connections.push(reader);
      const block = await reader.next();
      reader.close();
      after = block?.id ?? '';
      if (block !== null && isType('task.completed')(block)) break;
    }

    const log = await client.log(EVERYTHING);
    expectExactly(
      connections.map(({ blocks }) => blocks.slice(0, 1)),
      ofTasks(log, task),
    );
  });

  test('is the same by the page: ids, order, and where it ends', async () => {
    await client.playOut(note);
    const task = await startWaiting(4);
    const reader = await retell();
    reader.close();

    const events: PagedEvent[] = [];
    const cursors: string[] = [];
    for (let query = 'limit=2'; ; query = `limit=2&after=${cursors.at(-1)}`) {
      const page = await readPage(client, EVERYTHING, query);
      events.push(...page.events);
      cursors.push(page.cursor);
      if (page.caughtUp) break;
    }

    expectExactly([reader.blocks], events);
    expect(events.map(({ id }) => id)).toEqual(reader.blocks.slice(0, -1).map(({ id }) => id));
    expect(cursors.at(-1)).toBe(reader.blocks.at(-1)?.id);
    await end(task);
  });
});

describe('§5.2.3 the validity of a cursor of a retelling', () => {
  test('is that of (epoch, until): `until` above the head is ahead', async () => {
    const { head, seq } = headOf(await client.log(EVERYTHING));
    const epoch = head.split('.')[0];

    expect(await resetReason(`${epoch}.1.${seq}`)).toBeNull();
    expect(await resetReason(`${epoch}.1.${seq + 1}`)).toBe('ahead');
    expect(await resetReason(`${epoch === 'aaaaaaaa' ? 'bbbbbbbb' : 'aaaaaaaa'}.1.${seq}`)).toBe('unknown');
  });

  test('needs seq ≤ until', async () => {
    const { head, seq } = headOf(await client.log(EVERYTHING));
    const epoch = head.split('.')[0];

    expect(await resetReason(`${epoch}.${seq}.${seq}`)).toBeNull();
    expect(await resetReason(`${epoch}.${seq}.${seq - 1}`)).toBe('ahead');
  });
});

/** Why the cursor is refused; null when it is served. */
async function resetReason(cursor: string): Promise<string | null> {
  const reader = await open(`?after=${cursor}`);
  const block = await reader.until((each) => isNamed('reset')(each) || isNamed('caught-up')(each));
  reader.close();
  return block.event === 'reset' ? JSON.parse(block.data ?? '').reason : null;
}

function headOf(log: PagedEvent[]): { head: string; seq: number } {
  const last = log.at(-1);
  return { head: last?.id ?? '', seq: last?.seq ?? 0 };
}
