import type { Command } from 'commander';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { postgresUrl } from '../option-values.ts';

/** Which storage a command is for, as it was given. */
export interface StorageFlags {
  data?: string;
  database?: string;
}

/** A directory, which need not be there; or the URL of a database, in place of it. */
export type Storage = Pick<Config, 'dataDir' | 'database'>;

/** Lets a command be given what {@link storageOf} reads. */
export function addStorageOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'the data directory of the server (default: ./data; or HOLDFAST_DATA)')
    .option('--database <url>', 'the PostgreSQL of the servers, in place of it (or HOLDFAST_DATABASE)');
}

/** @throws ConfigError for what cannot be one, or names both */
export function storageOf({ data, database }: StorageFlags): Storage {
  const flags = {
    ...(data !== undefined && { dataDir: [data] }),
    ...(database !== undefined && { database: [database] }),
  };
  return readConfig(flags);
}

/** The URL of the database that something is copied into. @throws ConfigError where none is given, or what is none */
export function targetOf(to: string | undefined): string {
  const url = to ?? readConfig({}).database;
  if (url === null) throw new ConfigError('--to: a database is needed, by it or by HOLDFAST_DATABASE.');
  try {
    return postgresUrl(url);
  } catch (error) {
    throw new ConfigError(`--to: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
