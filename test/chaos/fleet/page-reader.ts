import type { EventsPage } from '../../support/log-pages.ts';
import type { Reading } from '../history.ts';
import { pass } from '../pass.ts';
import { type Field, PATIENCE_MS, within } from './field.ts';
import type { StreamReader } from './stream-reader.ts';

/** Reads the same log by pages, each behind the one before: one page is a connection of its reading. */
export function readPages(field: Field, reader: string): StreamReader {
  const path = '/v1/events';
  const dice = field.diceFor(reader);
  const reading: Reading = { reader, path, connections: [] };
  field.history.readings.push(reading);
  let cursor = '0';
  let finishing = false;
  let isDone = false;

  async function turn(): Promise<void> {
    const isLast = finishing;
    const query = `after=${cursor}&limit=${1 + dice.below(50)}&wait=${isLast ? 0 : dice.below(3)}`;
    const response = await fetch(`${field.url}${path}?${query}`, {
      headers: { Accept: 'application/json' },
      signal: within(field, PATIENCE_MS),
    });
    const page = (await response.json()) as EventsPage;
    if (response.status === 503) return;
    const told = response.status === 200 ? page.events : [];
    const blocks = told.map(({ id, ...event }) => ({ id, event: null, data: JSON.stringify(event) }));
    const connection = { asked: cursor, status: response.status, blocks };
    reading.connections.push(connection);
    field.history.note('connection', { reader, path, ...connection });
    if (response.status === 200) cursor = page.cursor;
    if (response.status !== 200 || (isLast && page.caughtUp)) isDone = true;
  }

  async function run(): Promise<void> {
    while (!isDone && !field.over.aborted) {
      // A page that was lost with its connection is asked for again.
      await turn().catch(() => {});
      await pass(dice.below(100), field.over);
    }
  }
  const running = run();

  return {
    finish() {
      finishing = true;
      return running;
    },
  };
}
