import { randomBytes } from 'node:crypto';
import postgres from 'postgres';

/** Where a PostgreSQL is that tests may create databases in: `HOLDFAST_TEST_POSTGRES`, a URL, or the one on this machine. */
const LOCAL = 'postgres://postgres@127.0.0.1:5432/postgres';
const MISSING =
  'No PostgreSQL answers. Name one by HOLDFAST_TEST_POSTGRES, or start one at 127.0.0.1:5432; `.ci/run` does it on Debian and Ubuntu.';
const PREFIX = 'holdfast_test';
/** No test lasts so long: what is older was left by a run that was killed. */
const LEFT_AFTER_MS = 6 * 60 * 60_000;

/**
 * The URL of the PostgreSQL for tests; null where none answers.
 *
 * @throws Error when one was named and does not answer
 */
export async function answeringPostgres(): Promise<string | null> {
  const named = process.env.HOLDFAST_TEST_POSTGRES;
  const url = named ?? LOCAL;
  try {
    await runSql(url, 'select 1');
    return url;
  } catch (error) {
    if (named === undefined) return null;
    throw new Error('The PostgreSQL that HOLDFAST_TEST_POSTGRES names does not answer.', { cause: error });
  }
}

/**
 * The same, for `describe.skipIf`: where none answers a line says so.
 *
 * @throws Error of that with CI=true
 */
export async function findPostgres(): Promise<string | null> {
  const url = await answeringPostgres();
  if (url === null && process.env.CI === 'true') throw new Error(MISSING);
  if (url === null) process.stderr.write(`Skipped: what is tested on PostgreSQL. ${MISSING}\n`);
  return url;
}

/** A database of a test's own. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Takes it away, whoever is connected. */
  drop(): Promise<void>;
}

/**
 * @param options what `create database` takes behind the name
 * @throws Error where no PostgreSQL answers: look with {@link findPostgres} before
 */
export async function createTestDatabase(options = ''): Promise<TestDatabase> {
  const server = process.env.HOLDFAST_TEST_POSTGRES ?? LOCAL;
  const name = `${PREFIX}_${Date.now().toString(36)}_${randomBytes(5).toString('hex')}`;
  await dropLeft(server);
  await runSql(server, `create database ${name} ${options}`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    name,
    drop: () => runSql(server, `drop database if exists ${name} with (force)`).then(() => {}),
  };
}

/** Runs a statement on a connection of its own. */
export async function runSql(url: string, text: string): Promise<postgres.RowList<postgres.Row[]>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}

let hasDropped = false;

async function dropLeft(server: string): Promise<void> {
  if (hasDropped) return;
  hasDropped = true;
  const names = await runSql(
    server,
    `select datname from pg_database where datname ~ '^${PREFIX}_[0-9a-z]+_[0-9a-f]+$'`,
  );
  for (const { datname } of names) {
    const madeAt = Number.parseInt(datname.split('_')[2] ?? '', 36);
    if (Date.now() - madeAt < LEFT_AFTER_MS) continue;
    await runSql(server, `drop database if exists ${datname} with (force)`);
  }
}
