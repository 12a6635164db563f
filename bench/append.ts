/**
 * Events per second from the workers, many tasks in each, through the log to one reader of everything, beside the bare
 * insert of the same rows in groups of 250 at the same durability (WAL, synchronous FULL), alternating.
 * `npm run bench:append [-- EVENTS TASKS]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { openRaw, startHoldfast } from './support/holdfast.ts';
import { median } from './support/median.ts';

const [EVENTS = 300_000, TASKS = 75] = process.argv.slice(2).map(Number);
const ROUNDS = 3;
const GROUP = 250;
const TEXT = 'x'.repeat(80);
const TICK = Buffer.from('"type":"bench.tick"');
const END = Buffer.from('"type":"task.completed"');

const holdfast = await startHoldfast();
const rates = { holdfast: [] as number[], raw: [] as number[] };
await throughHoldfast(EVENTS);
for (let round = 1; round <= ROUNDS; round++) {
  rates.raw.push(insertRaw(EVENTS));
  rates.holdfast.push(await throughHoldfast(EVENTS));
  console.log(`round ${round}: raw ${rates.raw.at(-1)}/s, holdfast ${rates.holdfast.at(-1)}/s`);
}
await holdfast.stop();
console.log(`append: ${(median(rates.holdfast) / median(rates.raw)).toFixed(2)} of the raw insert`);

async function throughHoldfast(events: number): Promise<number> {
  const stream = await openRaw(`${holdfast.url}/v1/events?after=latest`);
  const share = Math.ceil(events / TASKS);
  for (let i = 0; i < TASKS; i++) await holdfast.create('firehose', { events: share, text: TEXT });
  let startedAt = 0;
  let ended = 0;
  let seen = 0;
  for await (const chunk of stream) {
    if (startedAt === 0) startedAt = performance.now();
    seen += count(chunk, TICK);
    ended += count(chunk, END);
    if (ended === TASKS) break;
  }
  // A mark may be cut by the border of two chunks: a few in a thousand.
  if (seen < events * 0.99) throw new Error(`Only ${seen} of ${events} events came.`);
  return Math.round(events / ((performance.now() - startedAt) / 1000));
}

function count(chunk: Buffer, mark: Buffer): number {
  let found = 0;
  for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + mark.length)) found++;
  return found;
}

function insertRaw(events: number): number {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-raw-'));
  const db = new Database(path.join(dir, 'raw.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  migrate(drizzle(db), { migrationsFolder: new URL('../migrations/sqlite', import.meta.url).pathname });
  db.pragma('foreign_keys = OFF');
  const insert = db.prepare(
    'insert into event (log, seq, task, root, at, type, step, data) values (1, ?, 1, 1, ?, ?, null, ?)',
  );
  const group = db.transaction((from: number, to: number) => {
    for (let seq = from; seq < to; seq++) {
      insert.run(seq, Date.now(), 'bench.tick', JSON.stringify({ i: seq, text: TEXT }));
    }
  });
  const startedAt = performance.now();
  for (let seq = 1; seq <= events; seq += GROUP) group.immediate(seq, Math.min(seq + GROUP, events + 1));
  const rate = Math.round(events / ((performance.now() - startedAt) / 1000));
  db.close();
  rmSync(dir, { recursive: true, force: true });
  return rate;
}
