/**
 * What several nodes on one PostgreSQL cost: CPU time of the nodes, and of the database's processes apart, for each 1,000
 * tasks and each 100,000 events, with 1, 2 and 4 nodes, and how much of it standing by costs. Every owner's readers are on
 * one node, and its tasks on all. Prints the table of docs/scaling.md. Linux. `npm run bench:nodes [-- TASKS EVENTS]`
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createToken } from '../src/access/token-list.ts';
import { openPostgresAccess } from '../src/store/postgres/access/open.ts';
import { startPostgresCluster } from '../test/support/postgres-cluster.ts';
import { cpuSeconds, cpuSecondsWithChildren } from './support/cpu-time.ts';
import { type Holdfast, openRaw, startHoldfast } from './support/holdfast.ts';

/** No more, so that it emits them by itself. */
const EVENTS_A_TASK = 4000;
const [TASKS = 4000, EVENTS = 50 * EVENTS_A_TASK] = process.argv.slice(2).map(Number);
const NODES = [1, 2, 4];
const OWNERS = 8;
const AT_ONCE = 32;
const STAND_BY_MS = 10_000;
const TEXT = 'x'.repeat(80);
const END = Buffer.from('"type":"task.completed"');

/** CPU seconds, and how long it took. */
interface Cost {
  nodes: number;
  database: number;
  seconds: number;
}

const cluster = await startPostgresCluster({ fsync: true });
try {
  console.log(
    '| nodes | 1,000 tasks: nodes | database | tasks/s | 100,000 events: nodes | database | events/s | standing by, a node and minute: node | database |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const count of NODES) console.log(await rowOf(count));
} finally {
  await cluster.remove();
}

async function rowOf(count: number): Promise<string> {
  const database = await cluster.createDatabase(`bench_${count}`);
  const tokens = await tokensOf(database);
  const nodes: Holdfast[] = [];
  for (let n = 0; n < count; n++) nodes.push(await startHoldfast({ database, flags: ['--auth', 'token'] }));
  // Everything is loaded, and every owner has a log.
  await runTasks(nodes, tokens, OWNERS * AT_ONCE, 'errand', { text: TEXT });

  const standBy = await costOf(nodes, () => delay(STAND_BY_MS));
  const tasks = await costOf(nodes, () => runTasks(nodes, tokens, TASKS, 'errand', { text: TEXT }));
  const share = { events: EVENTS_A_TASK, text: TEXT };
  const events = await costOf(nodes, () => runTasks(nodes, tokens, EVENTS / EVENTS_A_TASK, 'firehose', share));
  await Promise.all(nodes.map((node) => node.stop()));

  const perTask = (cost: number) => ((cost * 1000) / TASKS).toFixed(2);
  const perEvent = (cost: number) => ((cost * 100_000) / EVENTS).toFixed(2);
  const perMinute = (cost: number) => ((cost * 60_000) / STAND_BY_MS / count).toFixed(2);
  const cells = [
    ...[count, perTask(tasks.nodes), perTask(tasks.database), Math.round(TASKS / tasks.seconds)],
    ...[perEvent(events.nodes), perEvent(events.database), Math.round(EVENTS / events.seconds)],
    ...[perMinute(standBy.nodes), perMinute(standBy.database)],
  ];
  return `| ${cells.join(' | ')} |`;
}

async function tokensOf(database: string): Promise<string[]> {
  const access = await openPostgresAccess({ url: database, use: 'operator' });
  const scopes = ['tasks:read', 'tasks:write'] as const;
  const made: string[] = [];
  for (let n = 0; n < OWNERS; n++) {
    made.push((await createToken(access, { owner: `owner-${n}`, scopes, expiresInMs: null })).token);
  }
  await access.close();
  return made;
}

async function costOf(nodes: readonly Holdfast[], work: () => Promise<unknown>): Promise<Cost> {
  const spent = () => ({
    nodes: nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    database: cpuSecondsWithChildren(cluster.pid),
  });
  const before = spent();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const after = spent();
  return { nodes: after.nodes - before.nodes, database: after.database - before.database, seconds };
}

/** Settles when the reader of each owner has seen its tasks end. */
async function runTasks(
  nodes: readonly Holdfast[],
  tokens: readonly string[],
  count: number,
  agent: string,
  input: object,
): Promise<void> {
  const ended = tokens.map(async (token, owner) => {
    const own = Math.floor(count / tokens.length) + (owner < count % tokens.length ? 1 : 0);
    const node = nodes[owner % nodes.length] as Holdfast;
    const stream = await openRaw(`${node.url}/v1/events?after=latest`, { authorization: `Bearer ${token}` });
    return { seen: countEnds(stream, own) };
  });
  const readers = await Promise.all(ended);
  let next = 0;
  const creators = Array.from({ length: AT_ONCE }, async () => {
    while (next < count) {
      const n = next++;
      const node = nodes[Math.floor(n / tokens.length) % nodes.length] as Holdfast;
      await node.create(agent, input, tokens[n % tokens.length]);
    }
  });
  await Promise.all([...creators, ...readers.map(({ seen }) => seen)]);
}

async function countEnds(stream: AsyncIterable<Buffer>, wanted: number): Promise<void> {
  let seen = 0;
  let rest = Buffer.alloc(0);
  if (wanted === 0) return;
  for await (const chunk of stream) {
    const text = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let at = text.indexOf(END); at >= 0; at = text.indexOf(END, from)) {
      seen += 1;
      from = at + END.length;
    }
    // What is cut by the border of two chunks.
    rest = text.subarray(Math.max(from, text.length - END.length + 1));
    if (seen >= wanted) return;
  }
}
