import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const AGENT_EXTENSIONS = ['.js', '.mjs', '.ts'];
const MIN_WORKERS = 2;
const MAX_WORKERS = 256;
/** A day: longer than anybody wants, and within what timers can do. */
const MAX_WARM_MS = 86_400_000;
const MIN_WORKER_MEMORY_MB = 64;
/** More could not be seen before the engine of JavaScript gives up, for want of one large block, with all that is in the process. */
const MAX_WORKER_MEMORY_MB = 1024;
const MAX_RETENTION_DAYS = 36_500;
const DAY_MS = 24 * 60 * 60_000;

interface ConfigOption<T> {
  flag: `--${string}`;
  env: `HOLDFAST_${string}`;
  /** What the value is called in the help. */
  value: string;
  /** The default as people read it. */
  default: string;
  description: string;
  /** May be given several times; in the variable, separated as in PATH. */
  repeatable?: true;
  /**
   * @param texts what was given, none for the default; more than one only for a repeatable option
   * @throws Error with what is wrong with the value, for {@link ConfigError} to name where it came from
   */
  parse(texts: readonly string[]): T;
}

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
  dataDir: option({
    flag: '--data',
    env: 'HOLDFAST_DATA',
    value: 'dir',
    default: './data',
    description: 'The directory of the database. It is created when it is missing.',
    parse: ([text = './data']) => path.resolve(nonEmpty(text)),
  }),
  agents: option({
    flag: '--agents',
    env: 'HOLDFAST_AGENTS',
    value: 'file',
    default: 'none',
    description: 'A module that exports agents, beside the built-in ones: `.js`, `.mjs` or `.ts`. May be repeated.',
    repeatable: true,
    parse: (texts) => texts.map(agentsFile),
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
  logLevel: option({
    flag: '--log-level',
    env: 'HOLDFAST_LOG_LEVEL',
    value: 'level',
    default: 'info',
    description: `What is logged to standard error, as JSON: \`${LOG_LEVELS.join('`, `')}\`.`,
    parse: ([text = 'info']) => logLevel(text),
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
  return {
    host: read('host', flags, env),
    port: read('port', flags, env),
    dataDir: read('dataDir', flags, env),
    agents: read('agents', flags, env),
    workers: read('workers', flags, env),
    warmMs: read('warmMs', flags, env),
    workerMemoryMb: read('workerMemoryMb', flags, env),
    retentionMs: read('retentionMs', flags, env),
    logLevel: read('logLevel', flags, env),
  };
}

function read<Key extends keyof Options>(key: Key, flags: Flags, env: NodeJS.ProcessEnv): Config[Key];
function read(key: keyof Options, flags: Flags, env: NodeJS.ProcessEnv): unknown {
  const option: ConfigOption<unknown> = OPTIONS[key];
  const given = flags[key];
  const variable = env[option.env] ?? '';
  const fromEnv = option.repeatable ? variable.split(path.delimiter).filter((text) => text !== '') : [variable];
  try {
    return option.parse(given ?? (variable === '' ? [] : fromEnv));
  } catch (error) {
    const source = given === undefined ? option.env : option.flag;
    throw new ConfigError(`${source}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function option<T>(definition: ConfigOption<T>): ConfigOption<T> {
  return definition;
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new Error('a value is needed.');
  return text;
}

function defaultWorkers(): number {
  return Math.min(Math.max(availableParallelism(), MIN_WORKERS), MAX_WORKERS);
}

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`"${text}" is not a whole number from ${min} to ${max}.`);
}

function numberBetween(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`"${text}" is not a number from ${min} to ${max}.`);
}

function logLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw new Error(`"${text}" is not one of ${LOG_LEVELS.join(', ')}.`);
  return level;
}

/** @returns the file's URL, as modules are named when they are imported */
function agentsFile(text: string): URL {
  const file = path.resolve(nonEmpty(text));
  if (!AGENT_EXTENSIONS.includes(path.extname(file))) {
    throw new Error(`"${text}" does not end in ${AGENT_EXTENSIONS.join(', ')}.`);
  }
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`there is no file ${file}.`);
  return pathToFileURL(file);
}
