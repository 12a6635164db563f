import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, OPTIONS, readConfig } from '../src/config.ts';
import { showDatabase } from '../src/option-values.ts';

const DAY_MS = 24 * 60 * 60_000;
const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-config-'));
const first = path.join(dir, 'first.ts');
const second = path.join(dir, 'second.mjs');
for (const file of [first, second, path.join(dir, 'agents.py')]) writeFileSync(file, '');

afterAll(() => rmSync(dir, { recursive: true }));

describe('the configuration', () => {
  test('has a default for every option', () => {
    const config = readConfig({}, {});

    expect(config).toEqual({
      host: '127.0.0.1',
      port: 4747,
      ...{ auth: 'none', jwtKeys: null, jwtSecretFile: null, jwtAudience: null, jwtIssuer: null },
      ...{ allowHosts: [], allowOrigins: [] },
      dataDir: path.resolve('data'),
      ...{ database: null, databaseListen: null, databasePool: 10, synchronousCommit: 'on', leaseMs: 30_000 },
      agents: [],
      agentEnv: [],
      workers: Math.max(2, availableParallelism()),
      warmMs: 10_000,
      workerMemoryMb: 512,
      retentionMs: 30 * DAY_MS,
      ...{ maxUnfinishedPerOwner: 10_000, maxRunningPerOwner: null },
      maxStreams: 10_000,
      maxStreamsPerOwner: null,
      rateLimit: null,
      logLevel: 'info',
    });
  });

  test('is read from the environment', () => {
    const config = readConfig(
      {},
      {
        HOLDFAST_HOST: '0.0.0.0',
        HOLDFAST_PORT: '0',
        HOLDFAST_AUTH: 'jwt',
        HOLDFAST_JWT_JWKS: 'https://login.example.com/keys',
        HOLDFAST_JWT_SECRET_FILE: second,
        HOLDFAST_JWT_AUDIENCE: 'holdfast',
        HOLDFAST_JWT_ISSUER: 'https://login.example.com',
        HOLDFAST_ALLOW_HOST: 'a.example,b.example',
        HOLDFAST_ALLOW_ORIGIN: 'https://a.example,http://localhost:3000/,capacitor://localhost',
        HOLDFAST_DATA: dir,
        HOLDFAST_DATABASE: 'postgres://ann:secret@db1,db2:5433/holdfast?sslmode=require',
        HOLDFAST_DATABASE_LISTEN: 'postgresql://db1/holdfast',
        HOLDFAST_DATABASE_POOL: '4',
        HOLDFAST_SYNCHRONOUS_COMMIT: 'remote_apply',
        HOLDFAST_LEASE_MS: '5000',
        HOLDFAST_AGENTS: [first, second].join(path.delimiter),
        HOLDFAST_AGENT_ENV: ['DATABASE_URL', 'AWS_*'].join(path.delimiter),
        HOLDFAST_WORKERS: '7',
        HOLDFAST_WARM_MS: '0',
        HOLDFAST_WORKER_MEMORY_MB: '256',
        HOLDFAST_RETENTION_DAYS: '0.5',
        HOLDFAST_MAX_UNFINISHED_PER_OWNER: '20000',
        HOLDFAST_MAX_RUNNING_PER_OWNER: '8',
        HOLDFAST_MAX_STREAMS: '500',
        HOLDFAST_MAX_STREAMS_PER_OWNER: '20',
        HOLDFAST_RATE_LIMIT: '600',
        HOLDFAST_LOG_LEVEL: 'silent',
      },
    );

    expect(config).toEqual({
      host: '0.0.0.0',
      port: 0,
      auth: 'jwt',
      jwtKeys: new URL('https://login.example.com/keys'),
      jwtSecretFile: second,
      ...{ jwtAudience: 'holdfast', jwtIssuer: 'https://login.example.com' },
      ...{
        allowHosts: ['a.example', 'b.example'],
        allowOrigins: ['https://a.example', 'http://localhost:3000', 'capacitor://localhost'],
      },
      dataDir: dir,
      database: 'postgres://ann:secret@db1,db2:5433/holdfast?sslmode=require',
      ...{ databaseListen: 'postgresql://db1/holdfast', databasePool: 4 },
      ...{ synchronousCommit: 'remote_apply', leaseMs: 5000 },
      agents: [pathToFileURL(first), pathToFileURL(second)],
      agentEnv: ['DATABASE_URL', 'AWS_*'],
      workers: 7,
      warmMs: 0,
      workerMemoryMb: 256,
      retentionMs: DAY_MS / 2,
      ...{ maxUnfinishedPerOwner: 20_000, maxRunningPerOwner: 8 },
      maxStreams: 500,
      maxStreamsPerOwner: 20,
      rateLimit: 600,
      logLevel: 'silent',
    });
  });

  test('prefers a flag to the variable, which is not even looked at', () => {
    const config = readConfig({ port: ['0'], agents: [second] }, { HOLDFAST_PORT: 'nonsense', HOLDFAST_AGENTS: first });

    expect(config.port).toBe(0);
    expect(config.agents).toEqual([pathToFileURL(second)]);
  });

  test('takes a directory that is given by a flag before a database that a variable names', () => {
    const config = readConfig({ dataDir: [dir] }, { HOLDFAST_DATABASE: 'postgres://db/a', HOLDFAST_LEASE_MS: '5000' });

    expect(config).toMatchObject({ dataDir: dir, database: null, leaseMs: 30_000 });
  });

  test('takes a database before the directory that is the default, or in a variable', () => {
    const config = readConfig({ database: ['postgres://db/a'] }, { HOLDFAST_DATA: dir });

    expect(config.database).toBe('postgres://db/a');
  });

  test.each([
    'mysql://ann:secret@db/a',
    'postgres://ann:secr@et@db/a',
    'postgres://ann:secr/et@db/a',
    'postgres://ann:secr#et@db/a',
    'postgres://ann:secr%et@db/a',
    'postgres://ann:secret@db:port/a',
    'postgres://ann:secret@db1,d b2/a',
    'postgres://ann:secret@/a',
    'secret',
  ])('refuses %s for a database without repeating what may be a password', (text) => {
    expect(() => readConfig({ database: [text] }, {})).toThrow(
      new ConfigError(
        '--database: it is no URL like postgres://user:password@host:5432/name; in a password @ is %40, / is %2F, % is %25.',
      ),
    );
  });

  test.each([
    ['postgres://db/a', 'postgres://db/a'],
    ['postgres://ann:secret@db:5433/a?sslmode=require', 'postgres://ann@db:5433/a'],
    ['postgres://ann:s%40cret@db1,db2/a?password=secret', 'postgres://ann@db1,db2/a'],
    ['postgresql://ann:se:cret@db/a', 'postgresql://ann@db/a'],
    ['postgres://:secret@db', 'postgres://@db'],
  ])('shows %s without its password', (url, shown) => {
    expect(readConfig({ database: [url] }, {}).database).toBe(url);
    expect(showDatabase(url)).toBe(shown);
  });

  test('takes an empty variable for an absent one', () => {
    const config = readConfig({}, { HOLDFAST_PORT: '', HOLDFAST_AGENTS: '' });

    expect(config.port).toBe(4747);
    expect(config.agents).toEqual([]);
  });

  test('keeps events for good with a retention of 0 days', () => {
    expect(readConfig({ retentionMs: ['0'] }, {}).retentionMs).toBeNull();
  });

  test.each([
    [{ port: ['65536'] }, '--port: "65536" is not a whole number from 0 to 65535.'],
    [{ port: ['4747.5'] }, '--port: "4747.5" is not a whole number from 0 to 65535.'],
    [{ port: [''] }, '--port: "" is not a whole number from 0 to 65535.'],
    [{ auth: ['basic'] }, '--auth: "basic" is not one of none, token, jwt.'],
    [{ allowHosts: ['a.example:80'] }, '--allow-host: "a.example:80" is no name of a host; it has no port.'],
    [{ jwtKeys: ['file:///keys'] }, '--jwt-jwks: "file:///keys" is no URL of http or https.'],
    [{ allowOrigins: ['app.example'] }, '--allow-origin: "app.example" is no URL of http or https.'],
    [
      { allowOrigins: ['https://app.example/x'] },
      '--allow-origin: "https://app.example/x" has more than an origin: https://app.example.',
    ],
    [{ host: [' '] }, '--host: a value is needed.'],
    [{ dataDir: [''] }, '--data: a value is needed.'],
    [
      { dataDir: [dir], database: ['postgres://db/a'] },
      '--database: all data is in the database then, and --data names another place for it; leave out one.',
    ],
    [{ databasePool: ['5'] }, '--database-pool: it takes --database.'],
    [{ databasePool: ['3'] }, '--database-pool: "3" is not a whole number from 4 to 1000.'],
    [{ synchronousCommit: ['off'] }, '--synchronous-commit: "off" would acknowledge what a power cut takes back.'],
    [
      { synchronousCommit: ['yes'] },
      '--synchronous-commit: "yes" is not one of on, remote_write, remote_apply, local.',
    ],
    [{ leaseMs: ['999'] }, '--lease-ms: "999" is not a whole number from 1000 to 600000.'],
    [{ workers: ['1'] }, '--workers: "1" is not a whole number from 2 to 256.'],
    [{ workers: ['1e1'] }, '--workers: "1e1" is not a whole number from 2 to 256.'],
    [{ workerMemoryMb: ['63'] }, '--worker-memory-mb: "63" is not a whole number from 64 to 1024.'],
    [{ agentEnv: ['A*B'] }, '--agent-env: "A*B" is no name of a variable.'],
    [{ agentEnv: ['HOLDFAST_AGENT_ENV'] }, '--agent-env: "HOLDFAST_AGENT_ENV" is of the server, and goes to no agent.'],
    [{ warmMs: ['1.5'] }, '--warm-ms: "1.5" is not a whole number from 0 to 86400000.'],
    [{ retentionMs: ['-1'] }, '--retention-days: "-1" is not a number from 0 to 36500.'],
    [{ logLevel: ['loud'] }, '--log-level: "loud" is not one of trace, debug, info, warn, error, fatal, silent.'],
    [
      { agents: [path.join(dir, 'agents.py')] },
      `--agents: "${path.join(dir, 'agents.py')}" does not end in .js, .mjs, .ts.`,
    ],
    [{ agents: [path.join(dir, 'none.ts')] }, `--agents: there is no file ${path.join(dir, 'none.ts')}.`],
  ])('refuses %j', (flags, message) => {
    expect(() => readConfig(flags, {})).toThrow(new ConfigError(message));
  });

  test('names the variable where the wrong value came from it', () => {
    expect(() => readConfig({}, { HOLDFAST_WORKERS: 'many' })).toThrow(
      new ConfigError('HOLDFAST_WORKERS: "many" is not a whole number from 2 to 256.'),
    );
  });
});

test('the table of options in the README is the one in the code', () => {
  const rows = Object.values(OPTIONS).map(
    ({ flag, value, env, description, ...option }) =>
      `| \`${flag} <${value}>\` | \`${env}\` | ${option.default} | ${description} |`,
  );

  const readme = readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');

  expect(readme.match(/^\| `--.*$/gm)).toEqual(rows);
});
