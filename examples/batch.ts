/**
 * Starts a hundred tasks, and collects what they come to from one event stream. Run it beside `npm start`:
 * `npx tsx examples/batch.ts [url] [tasks]`. The server may be restarted meanwhile: nothing is lost.
 */
import { createEventSource } from 'eventsource-client';

const [, , url = 'http://127.0.0.1:4747', count = '100'] = process.argv;
const CITIES = ['Lisbon', 'Porto', 'Rome', 'Vienna', 'Oslo', 'Athens', 'Prague', 'Dublin', 'Riga', 'Ghent'];
const ENDINGS = 'task.completed,task.failed,task.cancelled';

// Read before the first task is started, so that no ending can be in front of it.
const { cursor } = await send('/v1/events?after=latest&limit=1');
const tasks = await Promise.all(Array.from({ length: Number(count) }, (_, n) => start(n)));
console.log(`Started ${tasks.length} tasks.`);

const left = new Map(tasks.map(({ id, input }) => [id, input.message]));
const failed: string[] = [];
const events = createEventSource(`${url}/v1/events?after=${cursor}&types=${ENDINGS}`);
// When the connection is lost, the client goes on from the last event that it has seen.
for await (const { data } of events) {
  const { taskId, type, data: ending } = JSON.parse(data);
  const message = left.get(taskId);
  if (message === undefined) continue;
  left.delete(taskId);
  if (type !== 'task.completed') failed.push(taskId);
  console.log(`${message} ${type === 'task.completed' ? ending.output.text.split('\n')[0] : type}`);
  if (left.size === 0) break;
}
events.close();
console.log(`${tasks.length - failed.length} of ${tasks.length} completed.`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function start(n: number): Promise<{ id: string; input: { message: string } }> {
  const message = `What is a weekend in ${CITIES[n % CITIES.length]} like, for ${n + 1}?`;
  // Without a key a start that is sent twice, its answer lost, would be two tasks.
  const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
  return send('/v1/tasks', { method: 'POST', headers, body: JSON.stringify({ agent: 'chat', input: { message } }) });
}

async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, { ...init, headers: { accept: 'application/json', ...init.headers } });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}
