#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { ConfigError, type Flags, OPTIONS, readConfig } from '../config.ts';

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
  const config = configOf(flags);
  const { serveUntilSignal } = await import('./serve.ts');
  await serveUntilSignal(config, version);
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

function configOf(flags: Flags) {
  try {
    return readConfig(flags);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(`error: ${error.message}`);
    return process.exit(USAGE_ERROR);
  }
}
