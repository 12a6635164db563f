import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { type Answer, type Api, createApi, expectProblem, type Page, seqOf, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, logEvents, type SseReader } from '../support/sse-reader.ts';

const RIVALS = 20;
const ROUNDS = 100;

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** Every fourth rival declines; the others answer with their own number. */
function resolve(id: string, rival: number): Promise<Answer<Question>> {
  return rival % 4 === 3
    ? api.post<Question>(`/v1/questions/${id}/decline`, { reason: `rival ${rival}` })
    : api.answer(id, rival);
}

test(`§6 [Q6] of ${RIVALS} rivals one wins, in each of ${ROUNDS} rounds, and everybody is told who`, async () => {
  const spec = { items: [{ id: 'number', prompt: 'Who are you?', type: 'number' }] };
  const { id: taskId } = await api.createTask({ agent: 'examiner', input: { rounds: ROUNDS, spec } });
  const reader = await api.openStream(`/v1/tasks/${taskId}/events`);
  const winners: unknown[] = [];

  for (let round = 0; round < ROUNDS; round++) {
    const asked = await reader.until(isType('question.asked'));
    const { id } = JSON.parse(asked.data ?? '').data.question;

    const answers = await Promise.all(Array.from({ length: RIVALS }, (_, rival) => resolve(id, rival)));

    const won = answers.filter(({ status, headers }) => status === 200 && !headers.has('Idempotency-Replayed'));
    const winner = won[0]?.body;
    expect(won).toHaveLength(1);
    for (const [rival, answer] of answers.entries()) {
      // Who declines a declined question is in agreement.
      const agrees = winner?.status === 'declined' && rival % 4 === 3;
      if (agrees || answer === won[0]) expect(answer.body).toEqual(winner);
      else expect(expectProblem(answer, 409, 'question_resolved').question).toEqual(winner);
    }
    winners.push(
      winner?.status === 'declined'
        ? { status: 'declined', reason: winner.reason }
        : { status: 'answered', answers: winner?.answers, resolvedBy: 'local' },
    );
  }
  await reader.rest();

  const events = await api.eventsOf(taskId);
  const resolved = events.filter(({ type }) => type === 'question.answered' || type === 'question.declined');
  expect((await api.task(taskId)).output).toEqual(winners);
  expect(resolved).toHaveLength(ROUNDS);
  expect(new Set(resolved.map(({ data }) => data.questionId)).size).toBe(ROUNDS);
}, 90_000);

test('§6 the pending questions of the log and those of REST are equal at every moment', async () => {
  const spec = { items: [{ id: 'a', prompt: 'Well?' }] };
  const started = await api.createTask({ agent: 'echo' });
  const reads: { seq: number; ids: string[] }[] = [];
  const tasks = Array.from({ length: 12 }, async () => {
    const task = await api.run('branches', { one: spec, two: spec, three: spec });
    const { body } = await api.get<Page<Question>>(`/v1/questions?taskId=${task.id}`);
    const [one, two] = body.items;
    await api.answer(one?.id ?? '', 'x');
    await api.post(`/v1/questions/${two?.id}/decline`);
    await api.cancel(task.id);
  });
  const done = Promise.all(tasks).then(() => true);

  do {
    const { headers, body } = await api.get<Page<Question>>('/v1/questions?status=pending&limit=200');
    reads.push({ seq: seqOf(headers.get('Holdfast-Cursor')), ids: body.items.map(({ id }) => id) });
  } while (!(await Promise.race([done, Promise.resolve(false)])));

  const log = await api.log(started.cursor.before);
  for (const { seq, ids } of reads) {
    const pending = new Set<string>();
    for (const { type, data } of log.filter((event) => event.seq <= seq)) {
      if (type === 'question.asked') pending.add(data.question.id);
      else if (type.startsWith('question.')) pending.delete(data.questionId);
    }
    expect(ids.toSorted(), `at ${seq}`).toEqual([...pending].sort());
  }
  expect(Math.max(...reads.map(({ ids }) => ids.length))).toBeGreaterThan(3);
});

/** What is pending by the events of one connection, up to and including a seq. */
function pendingBy(reader: SseReader, upTo: number): string[] {
  const pending = new Set<string>();
  for (const { seq, type, data } of logEvents(reader.blocks)) {
    if (seq > upTo) break;
    if (type === 'question.asked') pending.add(data.question.id);
    else if (type.startsWith('question.')) pending.delete(data.questionId);
  }
  return [...pending].sort();
}

/** Reads on until the stream has told all up to this seq. */
async function readUpTo(reader: SseReader, seq: number): Promise<void> {
  const hasCome = () => seqOf(reader.blocks.at(-1)?.id ?? null) >= seq;
  while (!hasCome()) await reader.until(() => true);
}

test('§6 [Q3] a page that knows nothing finds pending, by its stream alone, just what REST has at that place', async () => {
  const spec = { items: [{ id: 'a', prompt: 'Well?' }] };
  const soon = { ...spec, timeoutMs: 150 };
  let comparisons = 0;
  const openings: { until: number; pending: number }[] = [];

  /** Asks in every way that there is, and has each question resolved in another. */
  async function play(): Promise<void> {
    const both = await api.run('either', { left: spec, right: spec });
    const task = await api.run('branches', { one: spec, two: spec, three: soon, four: spec });
    const { body } = await api.get<Page<Question>>(`/v1/questions?taskId=${task.id}`);
    await api.answer(body.items[0]?.id ?? '', 'x');
    await api.post(`/v1/questions/${body.items[1]?.id}/decline`);
    const { body: either } = await api.get<Page<Question>>(`/v1/questions?taskId=${both.id}`);
    await api.answer(either.items[0]?.id ?? '', 'x');
    const reader = await api.openStream(`/v1/tasks/${task.id}/events`);
    await reader.until(isType('question.expired'));
    reader.close();
    await api.cancel(task.id);
  }

  /** Opens the stream as a fresh page does, and compares as soon as it has caught up, and twice while it lives on. */
  async function look(): Promise<void> {
    const reader = await api.openStream('/v1/events');
    const caughtUp = await reader.until(isNamed('caught-up'));
    openings.push({ until: seqOf(caughtUp.id), pending: pendingBy(reader, seqOf(caughtUp.id)).length });
    for (let reads = 0; reads < 3; reads++) {
      const { headers, body } = await api.get<Page<Question>>('/v1/questions?status=pending&limit=200');
      const at = seqOf(headers.get('Holdfast-Cursor'));
      await readUpTo(reader, at);

      expect(pendingBy(reader, at), `at ${at}, retold at ${caughtUp.id}`).toEqual(
        body.items.map(({ id }) => id).sort(),
      );
      comparisons += 1;
    }
    reader.close();
  }

  let playing = 3;
  const players = Array.from({ length: playing }, async () => {
    for (let round = 0; round < 8; round++) await play();
    playing -= 1;
  });
  const viewers = Array.from({ length: 3 }, async () => {
    while (playing > 0) await look();
  });
  await Promise.all([...players, ...viewers]);

  expect(comparisons).toBeGreaterThan(60);
  expect(new Set(openings.map(({ until }) => until)).size).toBeGreaterThan(15);
  expect(new Set(openings.map(({ pending }) => pending)).size).toBeGreaterThan(3);
}, 90_000);
