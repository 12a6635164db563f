import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { createToken, revokeToken, type TokenListing, tokenListing } from '../access/token-list.ts';
import { EVERYDAY_SCOPES, isOwnerName, isScope, SCOPES, type Scope } from '../model/access.ts';
import type { AccessStore } from '../store/access.ts';

const DAY_MS = 24 * 60 * 60_000;

interface DataFlags {
  data?: string;
}

/** What the command line does for all commands. */
export interface Usage {
  /** The data directory that is meant, whether or not it is there. */
  dataDir(given: string | undefined): string;
  /** Says what is wrong with how it was called, and ends the process. */
  refuse(message: string): never;
}

const DATA_OPTION = ['--data <dir>', 'the data directory of the server (default: ./data; or HOLDFAST_DATA)'] as const;

interface CreateFlags extends DataFlags {
  owner: string;
  scopes: string;
  expiresInDays?: string;
  json?: true;
}

/** `holdfast tokens`: who may come in to a data directory, whether or not a server runs on it. */
export function addTokens(program: Command, usage: Usage): void {
  const tokens = program.command('tokens').description('Make, list and revoke API tokens.');
  tokens
    .command('create')
    .description('Make a token, and show it this once.')
    .option(...DATA_OPTION)
    .requiredOption('--owner <name>', 'whose tasks it reaches')
    .option('--scopes <list>', `what it may do, separated by commas: ${SCOPES.join(', ')}`, EVERYDAY_SCOPES.join(','))
    .option('--expires-in-days <days>', 'when it ends by itself; never unless given')
    .option('--json', 'print {"id", "token"}')
    .action(async ({ data, owner, scopes, expiresInDays, json }: CreateFlags) => {
      if (!isOwnerName(owner)) usage.refuse('--owner: 1 to 255 visible ASCII characters.');
      const asked = { owner, scopes: scopesIn(scopes, usage), expiresInMs: durationIn(expiresInDays, usage) };
      const { id, token } = await withStore(usage.dataDir(data), (store) => createToken(store, asked));
      if (json) process.stdout.write(`${JSON.stringify({ id, token })}\n`);
      else process.stdout.write(`${token}\n\nThis is ${id} of ${owner}. It is not shown again.\n`);
    });
  tokens
    .command('list')
    .description('Show all tokens, but for what they are.')
    .option(...DATA_OPTION)
    .option('--json', 'print an array')
    .action(async ({ data, json }: DataFlags & { json?: true }) => {
      const all = await withStore(existing(data, usage), tokenListing);
      process.stdout.write(json ? `${JSON.stringify(all)}\n` : table(all));
    });
  tokens
    .command('revoke')
    .description('End a token, with its sessions, tickets and streams.')
    .argument('<id>', 'its id, as `list` shows it')
    .option(...DATA_OPTION)
    .action(async (id: string, { data }: DataFlags) => {
      const isThere = await withStore(existing(data, usage), (store) => revokeToken(store, id));
      if (!isThere) usage.refuse(`There is no token ${id}.`);
      process.stdout.write(`${id} is revoked.\n`);
    });
}

async function withStore<T>(data: string, use: (store: AccessStore) => T): Promise<T> {
  // Whoever asks for the help does not wait for a database.
  const { openSqliteAccess } = await import('../store/sqlite/access/open.ts');
  try {
    const store = openSqliteAccess(data, 'operator');
    try {
      return use(store);
    } finally {
      store.close();
    }
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    return process.exit(1);
  }
}

/** A directory that was mistyped is not to become one with no tokens in it. */
function existing(data: string | undefined, usage: Usage): string {
  const dir = usage.dataDir(data);
  return existsSync(dir) ? dir : usage.refuse(`--data: there is no directory ${dir}.`);
}

function scopesIn(text: string, usage: Usage): Scope[] {
  const names = text.split(',').map((name) => name.trim());
  return names.map((name) =>
    isScope(name) ? name : usage.refuse(`--scopes: "${name}" is not one of ${SCOPES.join(', ')}.`),
  );
}

function durationIn(days: string | undefined, usage: Usage): number | null {
  if (days === undefined) return null;
  const number = Number(days);
  const isGood = /^\d+(\.\d+)?$/.test(days) && number > 0 && number <= 36_500;
  return isGood ? number * DAY_MS : usage.refuse(`--expires-in-days: "${days}" is not a number of days up to 36500.`);
}

function table(all: readonly TokenListing[]): string {
  if (all.length === 0) return 'There are no tokens.\n';
  const rows = all.map(({ id, owner, scopes, state, expiresAt, lastUsedAt }) => [
    ...[id, owner, scopes.join(','), state],
    ...[`expires ${expiresAt ?? 'never'}`, `used ${lastUsedAt ?? 'never'}`],
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}
