import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.ts';
import { PROXY_ENV, type ProxyProcess, startProxyProcess } from './proxy-process.ts';

/** A real nginx in front of servers. */
export interface Nginx extends ProxyProcess {
  readonly url: string;
}

/** @returns false, with a line that says so, where there is none. @throws Error of that with CI=true */
export function findNginx(): boolean {
  const isThere = spawnSync('nginx', ['-v'], { env: PROXY_ENV }).status === 0;
  if (!isThere && process.env.CI === 'true') throw new Error(MISSING);
  if (!isThere) process.stderr.write(`Skipped: what is tested behind nginx. ${MISSING}\n`);
  return isThere;
}

const MISSING = 'There is no nginx; `.ci/install-browser.sh` installs one on Debian and Ubuntu.';

/** One with nothing but its defaults. @param routes `proxy_pass` by the prefix of the path */
export function startNginx(routes: { [prefix: string]: string }): Promise<Nginx> {
  const locations = Object.entries(routes).map(([prefix, target]) => `location ${prefix} { proxy_pass ${target}; }`);
  return startNginxWith((port) => `server { listen 127.0.0.1:${port}; ${locations.join('\n')} }`);
}

/** @param configure what stands in `http { … }`, listening on this port */
export async function startNginxWith(configure: (port: number) => string): Promise<Nginx> {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-nginx-'));
  const port = await freePort();
  const conf = `
    daemon off;
    pid ${dir}/pid;
    error_log ${dir}/error.log;
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join('\n')}
      ${configure(port)}
    }`;
  const file = path.join(dir, 'nginx.conf');
  writeFileSync(file, conf);
  const { restart, stop } = await startProxyProcess('nginx', ['-p', dir, '-c', file, '-e', `${dir}/error.log`], port);
  return {
    url: `http://127.0.0.1:${port}`,
    restart,
    async stop() {
      await stop();
      rmSync(dir, { recursive: true });
    },
  };
}
