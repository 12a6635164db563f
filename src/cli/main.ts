#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { ConfigError, type Flags, OPTIONS, readConfig } from '../config.ts';
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

addTokens(program, { dataDir: dataDirOf, refuse: usageError });

program
  .command('check')
  .description('Read the whole database, of a server that is stopped, and say what is wrong with it.')
  .option('--data <dir>', 'The directory of the database (default: ./data; or HOLDFAST_DATA)')
  .action(async ({ data }: { data?: string }) => {
    const { runCheck } = await import('./check.ts');
    process.exitCode = runCheck(dataDirOf(data));
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

function dataDirOf(given: string | undefined): string {
  return usable(() => readConfig(given === undefined ? {} : { dataDir: [given] })).dataDir;
}

function usageError(message: string): never {
  console.error(`error: ${message}`);
  process.exit(USAGE_ERROR);
}
