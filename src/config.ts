import { availableParallelism } from 'node:os';
import path from 'node:path';
import { type ConfigOption, option } from './config-option.ts';
import { DATABASE_OPTIONS } from './database-options.ts';
import { ACCESS_MODES } from './model/access.ts';
import { DEFAULT_MAX_UNFINISHED } from './model/limits.ts';
import {
  agentsFile,
  hostName,
  httpUrl,
  nonEmpty,
  numberBetween,
  oneOf,
  origin,
  variableName,
  wholeNumber,
} from './option-values.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const MIN_WORKERS = 2;
const MAX_WORKERS = 256;
/** A day: longer than anybody wants, and within what timers can do. */
const MAX_WARM_MS = 86_400_000;
const MIN_WORKER_MEMORY_MB = 64;
/** More could not be seen before the engine of JavaScript gives up, for want of one large block, with all that is in the process. */
const MAX_WORKER_MEMORY_MB = 1024;
const MAX_RETENTION_DAYS = 36_500;
/** A count of them costs nothing, but the disk has to hold them. */
const MAX_UNFINISHED = 1_000_000;
/** The slots of all the workers that there may be. */
const MAX_RUNNING = MAX_WORKERS * 128;
/** What a process can hold open at best. */
const MAX_STREAMS = 1_000_000;
const MAX_PER_MINUTE = 1_000_000_000;
const DAY_MS = 24 * 60 * 60_000;

/** Every option of `holdfast serve`: flags, variables, help, and the README's table are all of this one. */
export const OPTIONS = {
  host: option({
    flag: '--host',
    env: 'HOLDFAST_HOST',
    value: 'host',
    default: '127.0.0.1',
    description: 'The address to listen on.',
    parse: ([text = '127.0.0.1']) => nonEmpty(text),
  }),
  port: option({
    flag: '--port',
    env: 'HOLDFAST_PORT',
    value: 'port',
    default: '4747',
    description: 'The port to listen on; 0 takes a free one.',
    parse: ([text = '4747']) => wholeNumber(text, 0, 65_535),
  }),
  auth: option({
    flag: '--auth',
    env: 'HOLDFAST_AUTH',
    value: 'how',
    default: 'none',
    description: `How people show who they are: \`${ACCESS_MODES.join('`, `')}\`. Without, the server is for this machine alone.`,
    parse: ([text = 'none']) => oneOf(text, ACCESS_MODES),
  }),
  jwtKeys: option({
    flag: '--jwt-jwks',
    env: 'HOLDFAST_JWT_JWKS',
    value: 'url',
    default: 'none',
    description: 'Where the public keys of JWTs are, for `--auth jwt`.',
    parse: ([text]) => (text === undefined ? null : httpUrl(text)),
  }),
  jwtSecretFile: option({
    flag: '--jwt-secret-file',
    env: 'HOLDFAST_JWT_SECRET_FILE',
    value: 'file',
    default: 'none',
    description: 'A file with the secret that JWTs are signed with, at least 32 bytes, in place of public keys.',
    parse: ([text]) => (text === undefined ? null : path.resolve(nonEmpty(text))),
  }),
  jwtAudience: option({
    flag: '--jwt-audience',
    env: 'HOLDFAST_JWT_AUDIENCE',
    value: 'text',
    default: 'none',
    description: 'Whom JWTs must be meant for: their `aud`.',
    parse: ([text]) => (text === undefined ? null : nonEmpty(text)),
  }),
  jwtIssuer: option({
    flag: '--jwt-issuer',
    env: 'HOLDFAST_JWT_ISSUER',
    value: 'text',
    default: 'none',
    description: 'Who must have made JWTs: their `iss`.',
    parse: ([text]) => (text === undefined ? null : nonEmpty(text)),
  }),
  allowHosts: option({
    flag: '--allow-host',
    env: 'HOLDFAST_ALLOW_HOST',
    value: 'name',
    default: 'none',
    description: 'What the server is called beside `localhost` and the like, without a port. May be repeated.',
    repeatable: ',',
    parse: (texts) => texts.map(hostName),
  }),
  allowOrigins: option({
    flag: '--allow-origin',
    env: 'HOLDFAST_ALLOW_ORIGIN',
    value: 'origin',
    default: 'none',
    description: 'Whose pages may ask: `https://app.example.com`. May be repeated.',
    repeatable: ',',
    parse: (texts) => texts.map(origin),
  }),
  dataDir: option({
    flag: '--data',
    env: 'HOLDFAST_DATA',
    value: 'dir',
    default: './data',
    description: 'The directory of the database. It is created when it is missing.',
    parse: ([text = './data']) => path.resolve(nonEmpty(text)),
  }),
  ...DATABASE_OPTIONS,
  agents: option({
    flag: '--agents',
    env: 'HOLDFAST_AGENTS',
    value: 'file',
    default: 'none',
    description: 'A module that exports agents, beside the built-in ones: `.js`, `.mjs` or `.ts`. May be repeated.',
    repeatable: path.delimiter,
    parse: (texts) => texts.map(agentsFile),
  }),
  agentEnv: option({
    flag: '--agent-env',
    env: 'HOLDFAST_AGENT_ENV',
    value: 'name',
    default: 'none',
    description: 'A variable of the environment that agents get too; `AWS_*` names all that begin so. May be repeated.',
    repeatable: path.delimiter,
    parse: (texts) => texts.map(variableName),
  }),
  workers: option({
    flag: '--workers',
    env: 'HOLDFAST_WORKERS',
    value: 'n',
    default: 'one a core',
    description: 'How many threads run agents, at least 2.',
    parse: ([text]) => wholeNumber(text ?? String(defaultWorkers()), MIN_WORKERS, MAX_WORKERS),
  }),
  warmMs: option({
    flag: '--warm-ms',
    env: 'HOLDFAST_WARM_MS',
    value: 'ms',
    default: '10000',
    description: 'How long the code of a waiting task stays in memory; 0 keeps none.',
    parse: ([text = '10000']) => wholeNumber(text, 0, MAX_WARM_MS),
  }),
  workerMemoryMb: option({
    flag: '--worker-memory-mb',
    env: 'HOLDFAST_WORKER_MEMORY_MB',
    value: 'MiB',
    default: '512',
    description: 'How much memory each worker may hold, heap and Buffers together. What uses up more has failed.',
    parse: ([text = '512']) => wholeNumber(text, MIN_WORKER_MEMORY_MB, MAX_WORKER_MEMORY_MB),
  }),
  /** How long after its end a task keeps its events, in ms; null keeps them for good. */
  retentionMs: option({
    flag: '--retention-days',
    env: 'HOLDFAST_RETENTION_DAYS',
    value: 'days',
    default: '30',
    description: 'How long after its end a task keeps its events; 0 keeps them for good.',
    parse: ([text = '30']) => {
      const days = numberBetween(text, 0, MAX_RETENTION_DAYS);
      return days === 0 ? null : days * DAY_MS;
    },
  }),
  maxUnfinishedPerOwner: option({
    flag: '--max-unfinished-per-owner',
    env: 'HOLDFAST_MAX_UNFINISHED_PER_OWNER',
    value: 'n',
    default: String(DEFAULT_MAX_UNFINISHED),
    description:
      'How many unfinished tasks one owner may have, children not counted, and how many pending questions. Further ones are refused.',
    parse: ([text = String(DEFAULT_MAX_UNFINISHED)]) => wholeNumber(text, 1, MAX_UNFINISHED),
  }),
  /** Null: as many as there are slots. */
  maxRunningPerOwner: option({
    flag: '--max-running-per-owner',
    env: 'HOLDFAST_MAX_RUNNING_PER_OWNER',
    value: 'n',
    default: 'all slots, 128 a worker',
    description:
      'How many tasks of one owner may run at once. Those that wait count nothing; further ones stay queued.',
    parse: ([text]) => (text === undefined ? null : wholeNumber(text, 1, MAX_RUNNING)),
  }),
  maxStreams: option({
    flag: '--max-streams',
    env: 'HOLDFAST_MAX_STREAMS',
    value: 'n',
    default: '10000',
    description: 'How many streams and waiting requests may be open at a time.',
    parse: ([text = '10000']) => wholeNumber(text, 1, MAX_STREAMS),
  }),
  /** Null: as the authentication asks for. */
  maxStreamsPerOwner: option({
    flag: '--max-streams-per-owner',
    env: 'HOLDFAST_MAX_STREAMS_PER_OWNER',
    value: 'n',
    default: '1000 with authentication, else all',
    description: 'How many of them may be of one owner.',
    parse: ([text]) => (text === undefined ? null : wholeNumber(text, 1, MAX_STREAMS)),
  }),
  /** Null: as the authentication asks for. */
  rateLimit: option({
    flag: '--rate-limit',
    env: 'HOLDFAST_RATE_LIMIT',
    value: 'n',
    default: '6000 with authentication, else 0',
    description: 'How many requests an owner may send in a minute; 0 for any number.',
    parse: ([text]) => (text === undefined ? null : wholeNumber(text, 0, MAX_PER_MINUTE)),
  }),
  logLevel: option({
    flag: '--log-level',
    env: 'HOLDFAST_LOG_LEVEL',
    value: 'level',
    default: 'info',
    description: `What is logged to standard error, as JSON: \`${LOG_LEVELS.join('`, `')}\`.`,
    parse: ([text = 'info']) => oneOf(text, LOG_LEVELS),
  }),
};

type Options = typeof OPTIONS;
export type Config = { [Key in keyof Options]: ReturnType<Options[Key]['parse']> };

/** The values of flags, by their option's key; absent where the flag was not given. */
export type Flags = { readonly [Key in keyof Options]?: readonly string[] };

/** An option with a value that cannot be used. The message names the flag or the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * The flag wins over the variable, and an empty variable counts as absent. Nothing else in the program reads the
 * environment.
 *
 * @throws ConfigError
 */
export function readConfig(flags: Flags, env: NodeJS.ProcessEnv = process.env): Config {
  const keys = Object.keys(OPTIONS) as (keyof Options)[];
  const meant = variablesMeant(flags, env);
  const config = Object.fromEntries(keys.map((key) => [key, read(key, flags, meant)])) as Config;
  if (config.database === null) refuseWithoutDatabase(flags);
  return config;
}

/**
 * A directory that is named by a flag is meant, whatever database a variable names.
 *
 * @throws ConfigError when a flag names a database, too
 */
function variablesMeant(flags: Flags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (flags.dataDir === undefined) return env;
  if (flags.database !== undefined) {
    throw new ConfigError(
      '--database: all data is in the database then, and --data names another place for it; leave out one.',
    );
  }
  const ofDatabases: string[] = Object.values(DATABASE_OPTIONS).map((each) => each.env);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofDatabases.includes(name)));
}

/** A variable may stand there for other commands; a flag is meant. */
function refuseWithoutDatabase(flags: Flags): void {
  const keys = Object.keys(DATABASE_OPTIONS) as (keyof typeof DATABASE_OPTIONS)[];
  const given = keys.find((key) => flags[key] !== undefined);
  if (given !== undefined) throw new ConfigError(`${OPTIONS[given].flag}: it takes --database.`);
}

function read(key: keyof Options, flags: Flags, env: NodeJS.ProcessEnv): unknown {
  const option: ConfigOption<unknown> = OPTIONS[key];
  const given = flags[key];
  const variable = env[option.env] ?? '';
  const fromEnv = option.repeatable ? variable.split(option.repeatable).filter((text) => text !== '') : [variable];
  try {
    return option.parse(given ?? (variable === '' ? [] : fromEnv));
  } catch (error) {
    const source = given === undefined ? option.env : option.flag;
    throw new ConfigError(`${source}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function defaultWorkers(): number {
  return Math.min(Math.max(availableParallelism(), MIN_WORKERS), MAX_WORKERS);
}
