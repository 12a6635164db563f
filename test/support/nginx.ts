import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A real nginx in front of servers, with nothing but its defaults. */
export interface Nginx {
  readonly url: string;
  /** Ends it with all its connections, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** @returns false, with a line that says so, where there is none. @throws Error of that with CI=true */
export function findNginx(): boolean {
  const isThere = spawnSync('nginx', ['-v'], { env: ENV }).status === 0;
  if (!isThere && process.env.CI === 'true') throw new Error(MISSING);
  if (!isThere) process.stderr.write(`Skipped: what is tested behind nginx. ${MISSING}\n`);
  return isThere;
}

/** Where it is is in nobody's path but root's. */
const ENV = { ...process.env, PATH: `${process.env.PATH}${path.delimiter}/usr/sbin` };
const MISSING = 'There is no nginx; `.ci/install-browser.sh` installs one on Debian and Ubuntu.';

/** @param routes `proxy_pass` by the prefix of the path */
export async function startNginx(routes: { [prefix: string]: string }): Promise<Nginx> {
  const dir = mkdtempSync(path.join(tmpdir(), 'holdfast-nginx-'));
  const port = await freePort();
  const locations = Object.entries(routes).map(([prefix, target]) => `location ${prefix} { proxy_pass ${target}; }`);
  const conf = `
    daemon off;
    pid ${dir}/pid;
    error_log ${dir}/error.log;
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join('\n')}
      server {
        listen 127.0.0.1:${port};
        ${locations.join('\n')}
      }
    }`;
  writeFileSync(path.join(dir, 'nginx.conf'), conf);

  let child: ChildProcess | null = null;
  async function start(): Promise<void> {
    const started = spawn('nginx', ['-p', dir, '-c', path.join(dir, 'nginx.conf'), '-e', path.join(dir, 'error.log')], {
      stdio: 'inherit',
      env: ENV,
    });
    child = started;
    while (!(await listens(port))) {
      if (started.exitCode !== null) throw new Error(`nginx ended with ${started.exitCode} before it served.`);
    }
  }
  async function end(): Promise<void> {
    const exited = child === null ? null : once(child, 'exit');
    child?.kill('SIGTERM');
    await exited;
    child = null;
  }

  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    async restart() {
      await end();
      await start();
    },
    async stop() {
      await end();
      rmSync(dir, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
