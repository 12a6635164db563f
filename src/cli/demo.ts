import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Json } from '../model/json.ts';
import { questionSchema } from '../model/question.ts';
import type { QuestionItem } from '../model/question-item.ts';
import { taskSchema } from '../model/task.ts';

const TOUR_LIMIT_MS = 120_000;
const DELTAS_BEFORE_CUT = 3;
const GIST_LENGTH = 76;
const TERMINAL_EVENT = /^task\.(completed|failed|cancelled)$/;

const eventSchema = z.object({
  type: z.string(),
  data: z.looseObject({
    text: z.string().optional(),
    message: z.object({ content: z.string() }).optional(),
    question: questionSchema.optional(),
  }),
});
const questionListSchema = z.object({ items: z.array(questionSchema) });
const eventPageSchema = z.object({ events: z.array(z.object({ id: z.string(), type: z.string() })) });

/** One block of an SSE stream; `event` is empty for what is in the log. */
interface Block {
  id: string;
  event: string;
  data: string;
}

/**
 * The tour: starts a server of its own, runs a task, cuts the stream in the middle, resumes, answers the questions, and
 * compares what was received with the log.
 *
 * @returns the exit code: 0 only when everything held
 */
export async function runDemo(): Promise<number> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'holdfast-demo-'));
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(TOUR_LIMIT_MS)]);
  try {
    const server = await startServer(dataDir, signal);
    print(`A server runs at ${server.url}, with its data in ${dataDir}.`);
    await takeTour(server.url, signal).finally(server.stop);
    print('It held: every event arrived once and in order, though the connection was lost in the middle.');
    return 0;
  } catch (error) {
    print(`The tour failed: ${error instanceof Error ? error.message : error}`);
    return 1;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function takeTour(url: string, signal: AbortSignal): Promise<void> {
  const created = await request(url, '/v1/tasks', signal, { agent: 'trip-planner', input: { city: 'Lisbon' } });
  const { id } = taskSchema.parse(created);
  const events = `${url}/v1/tasks/${id}/events`;
  print(`A task is created: ${id}. It is on disk, and it runs whether anybody watches or not.`);

  print('Somebody watches it:');
  const before = await watchUntilCut(events, signal);
  const lastId = before.at(-1) ?? '';
  print(`The connection is cut, in the middle of the text. The last event that arrived is ${lastId}.`);

  const alone = taskSchema.parse(await request(url, `/v1/tasks/${id}?wait=30`, signal));
  print(`Nobody watches, and the task goes on: it is ${alone.status} now.`);

  print(`The client comes back with "Last-Event-ID: ${lastId}" and is told the rest:`);
  const after = await watchToEnd(events, lastId, signal, () => answerPending(url, id, signal));

  await compareWithLog(events, [...before, ...after], signal);
  const task = taskSchema.parse(await request(url, `/v1/tasks/${id}`, signal));
  hold(task.status === 'completed', `the task is ${task.status}: ${JSON.stringify(task.error)}`);
  print(`The task is completed. Its output:\n${JSON.stringify(task.output, null, 2)}`);
}

/** Reads until some text has arrived, then drops the connection. */
async function watchUntilCut(events: string, signal: AbortSignal): Promise<string[]> {
  const connection = new AbortController();
  const ids: string[] = [];
  let deltas = 0;
  for await (const block of openStream(events, {}, AbortSignal.any([signal, connection.signal]))) {
    if (block.event !== '') continue;
    const { type } = show(block);
    ids.push(block.id);
    if (type === 'message.delta') deltas += 1;
    if (deltas === DELTAS_BEFORE_CUT || type === 'question.asked') break;
  }
  connection.abort();
  hold(ids.length > 0, 'the stream closed without an event');
  return ids;
}

/** Resumes after `lastId` and reads to the stream's end. */
async function watchToEnd(events: string, lastId: string, signal: AbortSignal, answer: () => Promise<void>) {
  const ids: string[] = [];
  let caughtUp = false;
  let ended = false;
  for await (const block of openStream(events, { 'last-event-id': lastId }, signal)) {
    hold(block.event !== 'reset', `the server no longer knows the cursor: ${block.data}`);
    if (block.event === 'end') ended = true;
    if (block.event === 'caught-up' && !caughtUp) {
      caughtUp = true;
      print(`That is what was missed: ${ids.length} events. From here on it is live.`);
      await answer();
    }
    if (block.event !== '') continue;
    const { type } = show(block);
    ids.push(block.id);
    if (type === 'task.waiting' && caughtUp) await answer();
  }
  hold(ended, 'the stream closed before the task ended');
  return ids;
}

/** Answers over REST, as somebody in another terminal would. Pending ones only: repeating it does no harm. */
async function answerPending(url: string, taskId: string, signal: AbortSignal): Promise<void> {
  const list = await request(url, `/v1/questions?status=pending&taskId=${taskId}`, signal);
  for (const question of questionListSchema.parse(list).items) {
    const answers = Object.fromEntries(question.items.map((item) => [item.id, answerTo(item)]));
    print(
      `Asked: ${question.items.map(({ prompt }) => prompt).join(' ')} Answered over REST: ${JSON.stringify(answers)}`,
    );
    await request(url, `/v1/questions/${question.id}/answers`, signal, { answers });
  }
}

function answerTo(item: QuestionItem): Json {
  switch (item.type) {
    case 'choice': {
      const [first] = item.options.map(({ value }) => value);
      return item.multiple ? [first ?? ''] : (first ?? '');
    }
    case 'text':
      return 'a room with a view';
    case 'boolean':
      return true;
    case 'number':
      return item.minimum ?? item.maximum ?? 1;
  }
}

async function compareWithLog(events: string, received: string[], signal: AbortSignal): Promise<void> {
  const headers = { accept: 'application/json' };
  const response = await fetch(`${events}?after=0&limit=1000`, { headers, signal });
  const log = eventPageSchema.parse(await response.json()).events;
  const missing = log.filter(({ id }) => !received.includes(id)).length;
  const repeated = received.length - new Set(received).size;
  print(`Received: ${received.length} events. In the log: ${log.length}. Missing: ${missing}. Twice: ${repeated}.`);
  hold(received.join() === log.map(({ id }) => id).join(), 'what was received is not what the log holds');
  hold(log.filter(({ type }) => TERMINAL_EVENT.test(type)).length === 1, 'the log has not exactly one terminal event');
  const again = await fetch(events, { headers: { 'last-event-id': received.at(-1) ?? '' }, signal });
  hold(again.status === 204, `a client that has everything is answered ${again.status}, not 204`);
}

async function* openStream(url: string, headers: Record<string, string>, signal: AbortSignal): AsyncGenerator<Block> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal });
  hold(response.status === 200 && response.body !== null, `the stream was refused with ${response.status}`);
  let rest = '';
  let block: Block = { id: '', event: '', data: '' };
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) block.id = line.slice('id: '.length);
      else if (line.startsWith('event: ')) block.event = line.slice('event: '.length);
      else if (line.startsWith('data: ')) block.data = line.slice('data: '.length);
      else if (line === '') {
        if (block.data !== '') yield block;
        block = { id: '', event: '', data: '' };
      }
    }
  }
}

/** GETs, or POSTs when there is a body. */
async function request(url: string, route: string, signal: AbortSignal, body?: Json): Promise<unknown> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${url}${route}`, { ...(body === undefined ? {} : post), signal });
  const text = await response.text();
  hold(response.ok, `${route} was answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

async function startServer(dataDir: string, signal: AbortSignal) {
  const main = fileURLToPath(new URL(`./main${path.extname(import.meta.url)}`, import.meta.url));
  const args = ['serve', '--host', '127.0.0.1', '--port', '0', '--data', dataDir, '--log-level', 'warn'];
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  const exited = once(child, 'exit');
  const failed = exited.then(() => Promise.reject(new Error('the server did not start')));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), failed]);
  const url = / serves (http:\S+)/.exec(line)?.[1];
  hold(url !== undefined, `the server said "${line}"`);
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await exited;
    hold(code === 0, `the server exited with ${code}`);
  };
  return { url, stop };
}

function show({ id, data }: Block): z.infer<typeof eventSchema> {
  const event = eventSchema.parse(JSON.parse(data));
  const { text, message, question } = event.data;
  const gist =
    text ?? message?.content ?? question?.items.map(({ prompt }) => prompt).join(' ') ?? JSON.stringify(event.data);
  const cut = gist.length > GIST_LENGTH ? `${gist.slice(0, GIST_LENGTH)}…` : gist;
  process.stdout.write(`  ${id.padEnd(14)} ${event.type.padEnd(20)} ${cut.replaceAll('\n', ' ')}\n`);
  return event;
}

function print(text: string): void {
  process.stdout.write(`\n${text}\n`);
}

function hold(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}
