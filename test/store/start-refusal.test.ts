import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { checkDatabase } from '../../src/store/sqlite/check.ts';
import { databaseFile, prepareFile } from '../../src/store/sqlite/connection.ts';
import { mountedAs, nameOfNetworkType } from '../../src/store/sqlite/file-system.ts';
import { openSqliteStore, openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { checkAtStart } from '../../src/store/sqlite/wholeness.ts';
import { StartRefusal } from '../../src/store/start-refusal.ts';
import { asNobody } from '../support/as-nobody.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { newDirectory } from '../support/store-directory.ts';
import { noteEvents, Owner } from '../support/store-owner.ts';

const mustRun = process.env.CI === 'true';
const PAGE_BYTES = 4096;

/** docs/operations.md, "When it does not start". */
describe('a store does not open, and says why and what to do, when', () => {
  test('its directory is a file', () => {
    const dir = join(newDirectory(), 'data');
    writeFileSync(dir, '');

    expect(refusalOf(dir)).toBe(`${dir} is a file, not a directory; choose a directory for the data with --data.`);
    expect(refusalOf(join(dir, 'below'))).toContain('lies below a file');
  });

  test('its database is no SQLite database', () => {
    const dir = newDirectory();
    const text = 'This is no database. '.repeat(100);
    writeFileSync(databaseFile(dir), text);

    expect(refusalOf(dir)).toContain(`${databaseFile(dir)} is no SQLite database; move it away`);
    expect(readFileSync(databaseFile(dir), 'utf8')).toBe(text);
  });

  test.each(['create table log (id integer)', 'pragma application_id = 7'])(
    'its database is of something else: %s',
    (sql) => {
      const dir = newDirectory();
      execute(dir, sql);
      const before = readFileSync(databaseFile(dir));

      expect(refusalOf(dir)).toContain(`${databaseFile(dir)} is a database of something else than Holdfast`);
      expect(readFileSync(databaseFile(dir)).equals(before)).toBe(true);
    },
  );

  test('a newer version has made its database', () => {
    const dir = newDirectory();
    prepareFile(dir);
    execute(dir, `insert into __drizzle_migrations (hash, created_at) values ('of tomorrow', ${Date.now() + 1e9})`);

    expect(refusalOf(dir)).toContain(`${databaseFile(dir)} was made by a newer version of Holdfast`);
  });

  test('a version that was never released has made its database', () => {
    const dir = newDirectory();
    prepareFile(dir);
    execute(dir, "update __drizzle_migrations set hash = 'of a draft'");

    expect(refusalOf(dir)).toContain('unreleased version of Holdfast');
  });

  test('a page of its database is garbage', async () => {
    const dir = await filled();
    const bytes = readFileSync(databaseFile(dir));
    bytes.fill(0xaa, bytes.length - PAGE_BYTES);
    writeFileSync(databaseFile(dir), bytes);

    expect(refusalOf(dir)).toMatch(new RegExp(`^${databaseFile(dir)} is corrupt \\(.+\\); put back a backup`));
    expect(checkDatabase(dir).damage).not.toEqual([]);
  });

  test('its database has lost its end', async () => {
    const dir = await filled();
    const { length } = readFileSync(databaseFile(dir));
    truncateSync(databaseFile(dir), length - PAGE_BYTES);

    expect(refusalOf(dir)).toContain(`${databaseFile(dir)} is corrupt`);
  });

  test.each(['wal', 'shm'])('its -%s cannot be made', (suffix) => {
    const dir = newDirectory();
    prepareFile(dir);
    mkdirSync(`${databaseFile(dir)}-${suffix}`);

    expect(refusalOf(dir)).toContain(`${databaseFile(dir)}-${suffix}`);
  });

  test.each([
    ['its directory', (dir: string) => join(dir, 'holdfast.lock')],
    ['its database', databaseFile],
  ])('%s may only be read', (what, named) => {
    const dir = newDirectory();
    prepareFile(dir);
    openSqliteStoreInProcess({ dir }).close();
    const locked = what === 'its directory' ? [dir] : [databaseFile(dir)];

    expect(asNobody(dir, locked, () => refusalOf(dir))).toContain(`${named(dir)} cannot be written by this user`);
  });

  test('who may come in is no database', () => {
    const dir = newDirectory();
    writeFileSync(join(dir, 'access.db'), 'This is no database. '.repeat(100));

    expect(() => openSqliteAccess(dir, 'server')).toThrow(`${join(dir, 'access.db')} is no SQLite database`);
  });

  test('its disk may only be read', ({ skip }) => {
    const disk = mountSmallDisk(4 * 1024 * 1024);
    if (disk === null) return mustRun ? expect.unreachable('no right to mount') : skip('Only root may mount a tmpfs.');
    try {
      prepareFile(disk.dir);
      disk.makeReadOnly();

      expect(refusalOf(disk.dir)).toContain('cannot be written by this user');
      expect(refusalOf(join(disk.dir, 'below'))).toContain('cannot be made: this user may not write there');
    } finally {
      disk.unmount();
    }
  });

  test('its disk is full', ({ skip }) => {
    const disk = mountSmallDisk(4 * 1024 * 1024);
    if (disk === null) return mustRun ? expect.unreachable('no right to mount') : skip('Only root may mount a tmpfs.');
    try {
      disk.fill(0);

      expect(refusalOf(disk.dir)).toContain('There is no space left on the disk of ');
    } finally {
      disk.unmount();
    }
  });
});

describe('a database', () => {
  test('carries the mark of Holdfast, also one that was made before there was one', () => {
    const dir = newDirectory();
    prepareFile(dir);
    execute(dir, 'pragma application_id = 0');

    prepareFile(dir);

    expect(readFileSync(databaseFile(dir)).toString('latin1', 68, 72)).toBe('Hold');
  });

  test('of which only the empty file was made by a start that died is begun anew', () => {
    const dir = newDirectory();
    writeFileSync(databaseFile(dir), '');

    openSqliteStoreInProcess({ dir }).close();

    expect(checkDatabase(dir).damage).toEqual([]);
  });

  // Would fail if what is looked at did not reach the end of a table.
  test('that is too large to be looked through at a start is looked at where its tables end', async () => {
    const dir = await filled();
    const file = databaseFile(dir);
    const look = () => {
      const db = new SqliteDatabase(file);
      try {
        checkAtStart(db, file, 0);
      } finally {
        db.close();
      }
    };
    look();
    const bytes = readFileSync(file);
    bytes.fill(0xaa, bytes.length / 2);
    writeFileSync(file, bytes);

    expect(look).toThrow('malformed');
  });

  test('that a server has is not checked', async () => {
    const dir = newDirectory();
    const store = await openSqliteStore({ dir });

    expect(() => checkDatabase(dir)).toThrow('in use by another Holdfast server');
    await store.close();
  });
});

describe('a file system', () => {
  test.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    // As it is on a machine of 32 bits.
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x5346414f, 'AFS'],
    [0x01021997, '9p'],
    [0x00c36400, 'Ceph'],
    [0xef53, null],
    [0x01021994, null],
    [0x9123683e, null],
  ])('of the type %i is of the network: %s', (type, name) => {
    expect(nameOfNetworkType(type, () => null)).toBe(name);
  });

  test.each([
    ['fuse.sshfs', 'fuse.sshfs'],
    ['fuseblk', null],
    ['virtiofs', null],
    ['fuse.mergerfs', null],
  ])('of FUSE that is mounted as %s is of the network: %s', (mounted, name) => {
    expect(nameOfNetworkType(0x65735546, () => mounted)).toBe(name);
  });

  test('is that of the longest mount point above a path, of several the last', () => {
    const mounts = [
      '21 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '30 21 0:40 / /mnt/my\\040data rw shared:1 - fuse.sshfs host:/ rw',
      '31 21 0:41 / /mnt rw - tmpfs tmpfs rw',
      '32 21 0:42 / /mnt rw - xfs /dev/sdb rw',
      '',
    ].join('\n');

    expect(mountedAs('/mnt/my data/deep', mounts)).toBe('fuse.sshfs');
    expect(mountedAs('/mnt/my', mounts)).toBe('xfs');
    expect(mountedAs('/mntx', mounts)).toBe('ext4');
  });
});

/** What opening says, which is one line. */
function refusalOf(dir: string): string {
  try {
    void openSqliteStoreInProcess({ dir }).close();
  } catch (error) {
    if (!(error instanceof StartRefusal)) throw error;
    expect(error.message).not.toContain('\n');
    return error.message;
  }
  throw new Error('It has opened.');
}

function execute(dir: string, sql: string): void {
  const db = new SqliteDatabase(databaseFile(dir));
  db.exec(sql);
  db.close();
}

/** A directory whose database has some hundred pages. */
async function filled(): Promise<string> {
  const dir = newDirectory();
  const store = openSqliteStoreInProcess({ dir });
  const ann = new Owner(store, 'ann');
  const task = await ann.start();
  await ann.append(
    task,
    noteEvents(task.id, 50, () => JSON.stringify('x'.repeat(10_000))),
  );
  await store.close();
  return dir;
}
