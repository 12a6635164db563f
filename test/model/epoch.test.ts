import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cursor, formatCursor, parseStartPoint } from '../../src/model/cursor.ts';
import { type EpochRow, epochAt, formatEpoch, judgeCursor } from '../../src/model/epoch.ts';

const ROWS: EpochRow[] = [
  { epoch: 'aaaaaaaa', firstSeq: 1 },
  { epoch: 'bbbbbbbb', firstSeq: 5 },
];

test('names an epoch by its first 8 bytes', () => {
  expect(formatEpoch(Uint8Array.of(0, 25, 26, 35, 36, 255, 1, 2, 3, 4))).toBe('az09adbc');
});

test.each([
  [0, 'aaaaaaaa'],
  [1, 'aaaaaaaa'],
  [4, 'aaaaaaaa'],
  [5, 'bbbbbbbb'],
  [99, 'bbbbbbbb'],
])('gives a cursor for seq %i the epoch in which it was written', (seq, epoch) => {
  expect(epochAt(ROWS, seq)).toBe(epoch);
});

test('has no epoch for a log without rows', () => {
  expect(epochAt([], 0)).toBeNull();
});

test.each([
  ['the last of an epoch', 'aaaaaaaa', 4, null, 'valid'],
  ['one above the last of an epoch', 'aaaaaaaa', 5, null, 'ahead'],
  ['the head', 'bbbbbbbb', 9, null, 'valid'],
  ['one above the head', 'bbbbbbbb', 10, null, 'ahead'],
  ['one below the first of an epoch', 'bbbbbbbb', 4, null, 'valid'],
  ['the very beginning', 'aaaaaaaa', 0, null, 'valid'],
  ['an epoch of another server', 'cccccccc', 1, null, 'unknown'],
  ['a retelling of which the head is known', 'bbbbbbbb', 2, 9, 'valid'],
  ['a retelling of which the head was lost', 'bbbbbbbb', 2, 10, 'ahead'],
  ['a retelling that has come to its head', 'bbbbbbbb', 9, 9, 'valid'],
  ['a retelling above its own head', 'bbbbbbbb', 7, 6, 'ahead'],
] as const)('judges %s', (_what, epoch, seq, until, verdict) => {
  expect(judgeCursor(ROWS, 9, { epoch, seq, until })).toBe(verdict);
});

/**
 * A server with its log, as far as cursors see it. Every event that was ever written, on any server, has a number of
 * its own, so that a log's history is known by its events.
 */
interface Server {
  epoch: string;
  rows: EpochRow[];
  events: number[];
}

interface Minted {
  text: string;
  seq: number;
  /** The newest event that its holder knows to be behind it; null for none. */
  event: number | null;
}

const world = () => {
  let epochs = 0;
  let written = 0;
  const boot = (of: Pick<Server, 'rows' | 'events'>): Server => {
    const epoch = (++epochs).toString(36).padStart(8, 'a');
    return { epoch, rows: [...of.rows], events: [...of.events] };
  };
  const append = (server: Server) => {
    server.events.push(++written);
    const { epoch, rows, events } = server;
    if (rows.at(-1)?.epoch !== epoch) rows.push({ epoch, firstSeq: events.length });
  };
  return { boot, append };
};

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('append' as const), on: fc.nat(3), count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('mint' as const),
      on: fc.nat(3),
      back: fc.nat(4),
      retell: fc.option(fc.nat(4)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), on: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('backup' as const), on: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const), on: fc.nat(3), copy: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const), on: fc.nat(3) }) },
);

function mint({ rows, events }: Server, back: number, retell: number | null): Minted {
  const position = Math.max(0, events.length - back);
  const seq = retell === null ? position : Math.max(0, position - retell);
  const text = formatCursor(epochAt(rows, position), seq, retell === null ? null : position);
  return { text, seq: position, event: events[position - 1] ?? null };
}

/** Plays restarts, restores and forks, and gives what is left: the servers and every cursor that anyone ever got. */
function play(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) {
  const { boot, append } = world();
  const servers = [boot({ rows: [], events: [] })];
  const copies: Pick<Server, 'rows' | 'events'>[] = [];
  const cursors: Minted[] = [];
  for (const each of steps) {
    const at = each.on % servers.length;
    const server = servers[at] as Server;
    if (each.do === 'append') for (let n = 0; n < each.count; n++) append(server);
    if (each.do === 'mint') cursors.push(mint(server, each.back, each.retell));
    if (each.do === 'restart') servers[at] = boot(server);
    if (each.do === 'backup') copies.push(structuredClone(server));
    if (each.do === 'restore') servers[at] = boot(copies[each.copy % copies.length] ?? server);
    if (each.do === 'fork' && servers.length < 4) servers.push(boot(server));
  }
  return { servers, cursors };
}

test('serves exactly the cursors of which nothing was lost, over restarts, restores and forks', () => {
  const verdicts = { valid: 0, ahead: 0, unknown: 0, reached: 0 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
      const { servers, cursors } = play(steps);
      for (const { rows, events } of servers) {
        for (const { text, seq, event } of cursors) {
          const point = parseStartPoint(text);
          if (event === null || typeof point === 'string') continue;
          const verdict = judgeCursor(rows, events.length, point as Cursor);
          verdicts[verdict]++;
          if (verdict !== 'valid' && events.length >= seq) verdicts.reached++;

          expect(verdict === 'valid').toBe(events[seq - 1] === event);
        }
      }
    }),
    { seed: 1, numRuns: 600 },
  );
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(100);
});

test('keeps every cursor valid over any number of ordinary restarts', () => {
  const ordinary = step.filter((each) => each.do === 'append' || each.do === 'mint' || each.do === 'restart');
  fc.assert(
    fc.property(fc.array(ordinary, { maxLength: 40 }), (steps) => {
      const { servers, cursors } = play(steps);
      for (const { rows, events } of servers) {
        const points = cursors.map(({ text }) => parseStartPoint(text)).filter((point) => typeof point === 'object');

        expect(points.filter((point) => judgeCursor(rows, events.length, point as Cursor) !== 'valid')).toEqual([]);
      }
    }),
    { seed: 2, numRuns: 200 },
  );
});
