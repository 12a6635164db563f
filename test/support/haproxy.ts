import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { PROXY_ENV, type ProxyProcess, startProxyProcess } from './proxy-process.ts';

/** A real HAProxy in front of servers. */
export interface Haproxy extends ProxyProcess {
  readonly url: string;
}

/** @returns false, with a line that says so, where there is none. @throws Error of that with CI=true */
export function findHaproxy(): boolean {
  const isThere = spawnSync('haproxy', ['-v'], { env: PROXY_ENV }).status === 0;
  if (!isThere && process.env.CI === 'true') throw new Error(MISSING);
  if (!isThere) process.stderr.write(`Skipped: what is tested behind HAProxy. ${MISSING}\n`);
  return isThere;
}

const MISSING = 'There is no haproxy; `.ci/install-databases.sh` installs one on Debian and Ubuntu.';

/** @param configure the whole configuration, listening on this port */
export async function startHaproxy(configure: (port: number) => string): Promise<Haproxy> {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-haproxy-'));
  const port = await freePort();
  const file = path.join(dir, 'haproxy.cfg');
  writeFileSync(file, configure(port));
  const { restart, stop } = await startProxyProcess('haproxy', ['-db', '-f', file], port);
  return {
    url: `http://127.0.0.1:${port}`,
    restart,
    async stop() {
      await stop();
      rmSync(dir, { recursive: true });
    },
  };
}
