import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
const NEEDED = 'initdb';
const MISSING = 'There are no programs of PostgreSQL; `.ci/install-databases.sh` installs them on Debian and Ubuntu.';

/**
 * The directory of PostgreSQL's programs, the newest where there are several; null, with a line that says so, where there
 * is none.
 *
 * @throws Error of that with CI=true
 */
export function findPostgresPrograms(): string | null {
  const found = candidates().find((dir) => existsSync(path.join(dir, NEEDED)));
  if (found !== undefined) return found;
  if (process.env.CI === 'true') throw new Error(MISSING);
  process.stderr.write(`Skipped: what is tested with a PostgreSQL of its own. ${MISSING}\n`);
  return null;
}

function candidates(): string[] {
  const told = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  return [
    ...(told.status === 0 ? [told.stdout.trim()] : []),
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...versions.map((version) => path.join(DEBIAN, version, 'bin')),
  ];
}
