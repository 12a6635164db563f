import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { PROXY_ENV, startProxyProcess } from './proxy-process.ts';

/** A real PgBouncer in front of a PostgreSQL. */
export interface Pgbouncer {
  readonly port: number;
  stop(): Promise<void>;
}

/** @returns false, with a line that says so, where there is none. @throws Error of that with CI=true */
export function findPgbouncer(): boolean {
  const isThere = spawnSync('pgbouncer', ['--version'], { env: PROXY_ENV }).status === 0;
  if (!isThere && process.env.CI === 'true') throw new Error(MISSING);
  if (!isThere) process.stderr.write(`Skipped: what is tested behind PgBouncer. ${MISSING}\n`);
  return isThere;
}

const MISSING = 'There is no pgbouncer; `.ci/install-databases.sh` installs one on Debian and Ubuntu.';
/** It does not run as root. */
const USER = process.geteuid?.() === 0 ? ['-u', 'nobody'] : [];

/** @param configure the whole configuration, listening on this port */
export async function startPgbouncer(configure: (port: number) => string): Promise<Pgbouncer> {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-pgbouncer-'));
  chmodSync(dir, 0o755);
  const port = await freePort();
  const file = path.join(dir, 'pgbouncer.ini');
  writeFileSync(file, configure(port));
  const { stop } = await startProxyProcess('pgbouncer', [...USER, file], port);
  return {
    port,
    async stop() {
      await stop();
      rmSync(dir, { recursive: true });
    },
  };
}
