import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { findPostgresPrograms } from './postgres-binaries.ts';

/** A PostgreSQL of a test's own, which may be killed, restarted, copied and replaced. Its superuser `postgres` needs no password. */
export interface PostgresCluster {
  readonly port: number;
  /** Of the process that all others of it are children of; another one after each start. */
  readonly pid: number;
  /** Over TCP. */
  url(database?: string, user?: string): string;
  /** Runs SQL as the superuser, on a connection of its own. @returns a line for each row, its values with `|` in between */
  sql(text: string, database?: string): Promise<string[]>;
  /**
   * Runs one of PostgreSQL's programs as the superuser, in a directory that it may write to: `pg_dump`, `pg_restore`, …
   *
   * @returns its standard output
   */
  program(name: string, args: readonly string[]): Promise<string>;
  /** @returns its URL */
  createDatabase(name: string): Promise<string>;
  start(): Promise<void>;
  /** `immediate` is a crash: no checkpoint, and recovery at the next start. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  restart(how: 'fast' | 'immediate'): Promise<void>;
  /** Keeps a copy of the data directory, which is stopped meanwhile. The copy before is gone. */
  copyData(): Promise<void>;
  /** Stops, puts the copy in the place of the data directory, and starts. */
  bringBackCopy(): Promise<void>;
  /** A copy that follows this one: what was committed here arrives there a little later. */
  addStandby(): Promise<PostgresCluster>;
  /** Of a standby: takes no more of what is committed there. Settles when it does not. */
  stopFollowing(): Promise<void>;
  /** Of a standby: becomes a server of its own, on a timeline of its own. */
  promote(): Promise<void>;
  /** Stops it, and takes everything away; so does the end of this process, whatever ends it. */
  remove(): Promise<void>;
}

export interface PostgresClusterOptions {
  /** Whether what is committed survives a power cut: for figures. Without it all survives that a test can do. */
  fsync?: boolean;
}

const NOBODY = 65_534;
const SUPERUSER = 'postgres';
/** It does not run as root. */
const USER = process.geteuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const CONNECTIONS = 200;
const LOOK_MS = 20;

/** @throws Error where PostgreSQL is not installed: look with {@link findPostgresPrograms} before */
export async function startPostgresCluster({ fsync = false }: PostgresClusterOptions = {}): Promise<PostgresCluster> {
  const place = await newPlace();
  await place.run('initdb', [
    '-D',
    place.data,
    '-U',
    SUPERUSER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  place.set({ listen_addresses: `'127.0.0.1'`, max_connections: `${CONNECTIONS}`, fsync: fsync ? 'on' : 'off' });
  return started(place);
}

/** Where a cluster lives. */
interface Place {
  dir: string;
  data: string;
  port: number;
  run(name: string, args: readonly string[]): Promise<string>;
  /** Adds lines to its configuration: the last one of a name counts. */
  set(settings: { [name: string]: string }): void;
  remove(): Promise<void>;
}

async function newPlace(): Promise<Place> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed.');
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-postgres-'));
  if (USER.uid !== undefined) chownSync(dir, USER.uid, USER.gid);
  const data = path.join(dir, 'data');
  // It sees this process go, however it goes, by the end of its input.
  const stop = `cat >/dev/null; '${programs}/pg_ctl' -D '${data}' stop -m immediate; rm -rf '${dir}'`;
  const reaper = spawn('sh', ['-c', stop], { ...USER, cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const reaped = once(reaper, 'exit');
  const execute = promisify(execFile);
  return {
    dir,
    data,
    port: await freePort(),
    async run(name, args) {
      const { stdout } = await execute(path.join(programs, name), args, { ...USER, cwd: dir, maxBuffer: 2 ** 30 });
      return stdout;
    },
    set(settings) {
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
      appendFileSync(path.join(data, 'postgresql.conf'), lines.join(''));
    },
    async remove() {
      reaper.stdin.end();
      await reaped;
    },
  };
}

async function started(place: Place): Promise<PostgresCluster> {
  const { dir, data, port, run } = place;
  const copy = path.join(dir, 'copy');
  place.set({ port: `${port}`, unix_socket_directories: `'${dir}'` });
  const toServer = ['-h', dir, '-p', `${port}`, '-U', SUPERUSER];
  const execute = promisify(execFile);

  const cluster: PostgresCluster = {
    port,
    get pid() {
      return Number.parseInt(readFileSync(path.join(data, 'postmaster.pid'), 'utf8'), 10);
    },
    url: (database = 'postgres', user = SUPERUSER) => `postgres://${user}@127.0.0.1:${port}/${database}`,
    async sql(text, database = 'postgres') {
      const out = await run('psql', [...toServer, '-d', database, '-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text]);
      return out.split('\n').filter((line) => line !== '');
    },
    program: (name, args) => run(name, [...toServer, ...args]),
    async createDatabase(name) {
      await cluster.sql(`create database ${name}`);
      return cluster.url(name);
    },
    async start() {
      await run('pg_ctl', ['-D', data, '-w', '-t', '60', '-s', '-l', path.join(dir, 'log'), 'start']);
    },
    async stop(how) {
      await run('pg_ctl', ['-D', data, '-w', '-s', '-m', how, 'stop']);
    },
    async restart(how) {
      await run('pg_ctl', ['-D', data, '-w', '-t', '60', '-s', '-m', how, '-l', path.join(dir, 'log'), 'restart']);
    },
    async copyData() {
      await cluster.stop('fast');
      await execute('rm', ['-rf', copy]);
      await execute('cp', ['-a', data, copy]);
      await cluster.start();
    },
    async bringBackCopy() {
      await cluster.stop('fast');
      await execute('rm', ['-rf', data]);
      await execute('mv', [copy, data]);
      await cluster.start();
    },
    async addStandby() {
      const own = await newPlace();
      await own.run('pg_basebackup', [...toServer, '-D', own.data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
      return started(own);
    },
    async stopFollowing() {
      await cluster.sql(`alter system set primary_conninfo = ''`);
      await cluster.sql('select pg_reload_conf()');
      while ((await cluster.sql('select 1 from pg_stat_wal_receiver')).length > 0) await pause();
    },
    async promote() {
      await run('pg_ctl', ['-D', data, '-w', '-s', 'promote']);
    },
    remove: place.remove,
  };
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await place.remove();
    throw error;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
