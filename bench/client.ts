/**
 * Events per second that `holdfast/client` gives its caller out of a long log, by a stream of its own and by the pages of a
 * shared one, beside whoever only reads the same bytes and parses each line's JSON, in turn.
 * `npm run bench:client [-- EVENTS]`
 */
import { createClient } from '../src/client/create-client.ts';
import { openRaw, startHoldfast } from './support/holdfast.ts';
import { median } from './support/median.ts';

const EVENTS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 3;

const holdfast = await startHoldfast();
const id = await holdfast.create('firehose', { events: EVENTS, text: 'x'.repeat(80) });
await readPlainly();
const rates: Record<string, number[]> = { plain: [], stream: [], shared: [] };
for (let round = 1; round <= ROUNDS; round++) {
  for (const [name, read] of Object.entries({
    plain: readPlainly,
    stream: () => follow(false),
    shared: () => follow(true),
  })) {
    const startedAt = performance.now();
    const events = await read();
    if (events < EVENTS) throw new Error(`Only ${events} of ${EVENTS} events came.`);
    rates[name]?.push(Math.round(events / ((performance.now() - startedAt) / 1000)));
  }
  console.log(
    `round ${round}: ${Object.entries(rates)
      .map(([name, all]) => `${name} ${all.at(-1)} events/s`)
      .join(', ')}`,
  );
}
await holdfast.stop();
const plain = median(rates.plain ?? []);
const ratio = (name: string) => (median(rates[name] ?? []) / plain).toFixed(2);
console.log(`client: a stream ${ratio('stream')}, shared ${ratio('shared')} of parsing alone`);

async function readPlainly(): Promise<number> {
  let events = 0;
  let rest = '';
  for await (const chunk of await openRaw(`${holdfast.url}/v1/tasks/${id}/events?after=0`)) {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: {"seq"') && JSON.parse(line.slice(6)).seq > 0) events += 1;
  }
  return events;
}

async function follow(share: boolean): Promise<number> {
  const client = createClient({ url: holdfast.url, share });
  let events = 0;
  for await (const item of client.events({ taskId: id, after: '0' })) if ('seq' in item) events += 1;
  client.close();
  return events;
}
