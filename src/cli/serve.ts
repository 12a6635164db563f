import { constants } from 'node:os';
import { pino } from 'pino';
import type { JwtOptions } from '../access/jwt.ts';
import { BUILT_IN_MODULE } from '../agents/built-in-module.ts';
import type { Config } from '../config.ts';
import { createHoldfast, type Server } from '../index.ts';
import { showDatabase } from '../option-values.ts';
import type { ServingOptions } from '../serving-options.ts';

/** What does not compile is told with its place, which stands on a line of its own. */
const MAX_MESSAGE_LINES = 3;
/** Longer than a close ever takes: what passes it hangs. */
const CLOSE_LIMIT_MS = 9_500;
/** A load balancer that watches the server is told that it goes, before the port closes; nobody waits at a Ctrl-C. */
const LISTEN_MS = { SIGTERM: 500, SIGINT: 0 };
/** npm passes on the Ctrl-C that the terminal has sent already: within this time it is the same one. */
const SAME_SIGNAL_MS = 300;

/**
 * Serves until SIGTERM or SIGINT, then lets streams go and ends the process with 0; a second signal ends it at once.
 * What cannot start says why in one line and ends the process with 1.
 */
export async function serveUntilSignal(config: Config, jwt: JwtOptions | undefined, version: string): Promise<void> {
  const logger = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const starting = startHoldfast(config, { jwt, agents: [new URL(BUILT_IN_MODULE), ...config.agents], logger });
  closeOnSignal(starting);
  // Who reads what is printed may go; the server stays.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  const { url } = await starting.catch((error) => exitWith(startFailure(error, config)));
  process.stdout.write(greeting(url, config, version));
}

/** Over the database if there is one, else over the directory. */
async function startHoldfast(config: Config, more: Pick<ServingOptions, 'jwt' | 'agents' | 'logger'>): Promise<Server> {
  const { dataDir, database, databaseListen, databasePool, synchronousCommit, leaseMs, ...rest } = config;
  const { logLevel, jwtKeys, jwtSecretFile, jwtAudience, jwtIssuer, ...options } = rest;
  if (database === null) return createHoldfast({ ...options, ...more, dataDir });
  const postgres = await import('../postgres.ts');
  const connection = { database, databaseListen, databasePool, synchronousCommit, leaseMs };
  return postgres.createHoldfast({ ...options, ...more, ...connection });
}

function closeOnSignal(starting: Promise<Server>): void {
  let first: { signal: string; at: number } | null = null;
  const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
    const at = performance.now();
    if (first?.signal === signal && at - first.at < SAME_SIGNAL_MS) return;
    if (first !== null) process.exit(128 + constants.signals[signal]);
    first = { signal, at };
    setTimeout(() => exitWith(`The server did not close within ${CLOSE_LIMIT_MS} ms.`), CLOSE_LIMIT_MS).unref();
    starting
      .then((server) => server.close(LISTEN_MS[signal]))
      .then(
        () => process.exit(0),
        (error) => exitWith(`The server did not close cleanly: ${messageOf(error)}`),
      );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

function startFailure(error: unknown, { host, port }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use; choose another with --port.`;
    case 'EACCES':
      return `Not allowed to listen on port ${port} of ${host} or to write the data: ${messageOf(error)}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine.`;
    default:
      return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  const text = String(error instanceof Error ? error.message : error);
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, MAX_MESSAGE_LINES)
    .join(' ');
}

function exitWith(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}

function greeting(url: string, { dataDir, database, auth }: Config, version: string): string {
  const place = database === null ? dataDir : showDatabase(database);
  const storage = database === null ? `--data ${dataDir}` : '--database <url>';
  const shown = auth === 'none' ? '' : " -H 'authorization: Bearer <token>'";
  const tokens = auth === 'none' ? '' : `Make a token:\n  holdfast tokens create --owner <name> ${storage}\n`;
  return `Holdfast ${version} serves ${url} with the data in ${place}.

${tokens}Open the console:
  ${url}/
Start a task:
  curl ${url}/v1/tasks${shown} -H 'content-type: application/json' -d '{"agent": "trip-planner", "input": {"city": "Lisbon"}}'
Watch everything that happens:
  curl -N ${url}/v1/events${shown}
Every route, to try in a browser:
  ${url}/docs

Stop with Ctrl-C.
`;
}
