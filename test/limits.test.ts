import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const page = readFileSync(path.join(ROOT, 'docs/limits.md'), 'utf8');

interface Row {
  what: string;
  howMuch: string;
  /** `model/limits MAX_TASK_EVENTS`; '' for a bound that is no constant. */
  constant: string;
}

const rows = [...page.matchAll(/^\| (?!what \|)(?!-)(.+) \|$/gm)].map((match): Row => {
  const cells = (match[1] ?? '').split('|').map((cell) => cell.trim());
  const [what = '', howMuch = ''] = cells;
  return { what, howMuch, constant: /`(.+)`/.exec(cells[4] ?? '')?.[1] ?? '' };
});

/** What a file says that a constant is: a product of numbers and other constants of the same file. */
function valueIn(text: string, name: string): number | null {
  const said = new RegExp(`^(?:export )?const ${name} = ([\\w *]+);`, 'm').exec(text)?.[1];
  if (said === undefined) return null;
  const factors = said.split(' * ').map((factor) => {
    return /^[\d_]+$/.test(factor) ? Number(factor.replaceAll('_', '')) : (valueIn(text, factor) ?? Number.NaN);
  });
  return factors.reduce((product, factor) => product * factor, 1);
}

const UNITS: [suffix: string, factor: number, unit: RegExp][] = [
  [' KiB', 1024, /BYTES|LENGTH|CHARS/],
  [' MiB', 1024 * 1024, /BYTES|LENGTH|CHARS/],
  [' MiB', 1, /_MB$/],
  [' s', 1000, /_MS$/],
  [' s', 1, /_SECONDS$/],
  [' min', 60_000, /_MS$/],
  [' h', 3_600_000, /_MS$/],
  [' days', 86_400_000, /_MS$/],
  ['', 1, /^(?!.*_(MS|MB|SECONDS|BYTES)$)/],
];

/** The ways to write a constant down. */
function written(name: string, value: number): string[] {
  return UNITS.filter(([, , unit]) => unit.test(name)).map(
    ([suffix, factor]) => `${(value / factor).toLocaleString('en-US')}${suffix}`,
  );
}

/** Bounds that nobody meets: of what is shown, cut or retried inside, or of one agent that is built in. */
const INNER = [
  ...['http/event-request MAX_TYPE_LENGTH', 'http/sse MAX_AGE_SPREAD', 'http/shedding MAX_COMMIT_MS'],
  ...['model/task DEFAULT_MAX_ATTEMPTS', 'engine/pages MAX_EVENTS_BYTES', 'engine/quarantine MAX_INTERVAL_MS'],
  ...['model/verbs/fail-task MAX_DELAY_MS', 'model/verbs/post-message MAX_UNTAKEN_CHARS'],
  ...['store/sqlite/read-history MAX_CHARS', 'store/sqlite/read-events MAX_BYTES'],
  ...['store/sqlite/read-events MAX_SEQS', 'store/sqlite/read-events MAX_NAMES', 'store/sqlite/writer MAX_WAL_PAGES'],
  ...['worker/bounded-output MAX_LENGTH', 'worker/coalesce MAX_DELTA_LENGTH', 'worker/error-message MAX_STACK_LENGTH'],
  ...['worker/failures MAX_ERRORS', 'worker/fifo MAX_GAP', 'worker/input-check MAX_MESSAGE_LENGTH'],
  ...['worker/input-schema MAX_ISSUES', 'worker/input-schema MAX_ISSUE_LENGTH', 'worker/json-text MAX_LENGTH'],
  ...['worker/message-stream MAX_OUTSTANDING_DELTAS', 'worker/numbered-reports MAX_APPEND_LENGTH'],
  ...['worker/outgoing MAX_OUTSTANDING_LENGTH', 'worker/protocol MAX_BATCH_EVENTS', 'worker/protocol MAX_BATCH_LENGTH'],
  ...['worker/retry MAX_TIMER_MS', 'worker/retry MAX_CAUSES', 'worker/step-failure MAX_MESSAGE_LENGTH'],
  ...['worker/step-failure MAX_FIELD_LENGTH', 'worker/step-failure MAX_FIELDS', 'worker/step-failure MAX_CAUSES'],
  ...['worker/suspicions MAX_NOTES', 'worker/worker-set MAX_BACKOFF_MS', 'store/sqlite/wholeness MAX_FINDINGS'],
  // The same as SQLite's.
  ...['store/postgres/read-events MAX_ROWS', 'store/postgres/read-events MAX_BYTES'],
  ...['store/postgres/read-events MAX_SEQS', 'store/postgres/read-history MAX_TURNS'],
  ...['store/postgres/read-history MAX_CHARS', 'store/postgres/commit-queue MAX_CALLS'],
  ...['store/postgres/commit-queue MAX_ROWS', 'store/postgres/listen MAX_PAUSE_MS'],
  ...['store/postgres/owner-marks MAX_OWNERS', 'store/postgres/transaction MAX_TRIES'],
  ...['store/postgres/transaction MAX_MARK', 'store/postgres/wake-up MAX_PAYLOAD_BYTES', 'engine/follower MAX_PAGES'],
];

/** Every constant of the server that is called a maximum. */
function maxima(): string[] {
  return ['model', 'store', 'worker', 'engine', 'http', 'access'].flatMap((layer) => {
    const dir = path.join(ROOT, 'src', layer);
    if (!existsSync(dir)) return [];
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    return files.flatMap((file) => {
      const text = readFileSync(path.join(dir, file), 'utf8');
      const names = [...text.matchAll(/^(?:export )?const ((?:DEFAULT_)?MAX_\w+) =/gm)].map((match) => match[1]);
      return names.map((name) => `${layer}/${file.slice(0, -3)} ${name}`);
    });
  });
}

describe('docs/limits.md', () => {
  test.each(rows.filter(({ constant }) => constant !== ''))('says of "$what" what $constant says', (row) => {
    const [file = '', name = ''] = row.constant.split(' ');
    const value = valueIn(readFileSync(path.join(ROOT, 'src', `${file}.ts`), 'utf8'), name);
    if (value === null) throw new Error(`${file}.ts has no ${name} that could be read.`);

    // Only the number: what it is of comes behind it.
    const said = written(name, value).filter((text) => row.howMuch === text || row.howMuch.startsWith(`${text} `));
    expect(said, `${row.howMuch} for ${value}`).toHaveLength(1);
  });

  test('has a row for every maximum that somebody can meet', () => {
    const listed = new Set([...INNER, ...rows.map(({ constant }) => constant)]);

    expect(maxima().filter((constant) => !listed.has(constant))).toEqual([]);
  });

  test('tells no more of inner bounds than there are', () => {
    const known = new Set(maxima());

    expect(INNER.filter((constant) => !known.has(constant))).toEqual([]);
  });
});
