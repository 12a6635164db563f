#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, Option } from 'commander';
import { ConfigError, type Flags, OPTIONS, readConfig } from '../config.ts';
import { addStorageOptions, type Storage, type StorageFlags, storageOf, targetOf } from './storage.ts';
import { addTokens } from './tokens.ts';

const USAGE_ERROR = 2;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const program = new Command('holdfast')
  .description('A server for agent tasks that hold fast.')
  .version(version)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR));

const serve = program.command('serve').description('Start the server.');
for (const [key, { flag, env, value, repeatable, ...option }] of Object.entries(OPTIONS)) {
  const description = `${option.description} (default: ${option.default}; or ${env})`.replaceAll('`', '');
  const flagOption = new Option(`${flag} <${value}>`, description);
  flagOption.argParser((text, before: readonly string[] = []) => (repeatable ? [...before, text] : [text]));
  flagOption.attributeName = () => key;
  serve.addOption(flagOption);
}
serve.action(async (flags: Flags) => {
  const config = usable(() => readConfig(flags));
  const { jwtOptionsOf } = await import('./jwt-options.ts');
  const jwt = usable(() => jwtOptionsOf(config));
  const { serveUntilSignal } = await import('./serve.ts');
  await serveUntilSignal(config, jwt, version);
});

addTokens(program, { storage, refuse: usageError });

addStorageOptions(program.command('check'))
  .description('Say what is wrong with the database: of a stopped server, which is read whole, or of several servers.')
  .action(async (flags: StorageFlags) => {
    const { runCheck } = await import('./check.ts');
    process.exitCode = await runCheck(storage(flags));
  });

program
  .command('migrate')
  .description('Copy everything of a stopped server from its directory into an empty PostgreSQL.')
  .requiredOption('--from <dir>', 'the data directory')
  .option('--to <url>', 'the database (or HOLDFAST_DATABASE)')
  .action(async ({ from, to }: { from: string; to?: string }) => {
    const database = usable(() => targetOf(to));
    const { runMigrate } = await import('./migrate.ts');
    process.exitCode = await runMigrate(path.resolve(from), database);
  });

program
  .command('demo')
  .description('Take the tour: a task, a lost connection, and nothing missed.')
  .action(async () => {
    const { runDemo } = await import('./demo.ts');
    process.exitCode = await runDemo();
  });

if (process.argv.length === 2) program.outputHelp();
else await program.parseAsync();

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return usageError(error.message);
  }
}

function storage(flags: StorageFlags): Storage {
  return usable(() => storageOf(flags));
}

function usageError(message: string): never {
  console.error(`error: ${message}`);
  process.exit(USAGE_ERROR);
}
