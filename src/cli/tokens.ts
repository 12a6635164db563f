import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { createToken, revokeToken, type TokenListing, tokenListing } from '../access/token-list.ts';
import { EVERYDAY_SCOPES, isOwnerName, isScope, SCOPES, type Scope } from '../model/access.ts';
import type { AccessStore } from '../store/access.ts';
import { addStorageOptions, type Storage, type StorageFlags } from './storage.ts';

const DAY_MS = 24 * 60 * 60_000;

/** What the command line does for all commands. */
export interface Usage {
  /** The storage that is meant, whether or not it is there. */
  storage(given: StorageFlags): Storage;
  /** Says what is wrong with how it was called, and ends the process. */
  refuse(message: string): never;
}

interface CreateFlags extends StorageFlags {
  owner: string;
  scopes: string;
  expiresInDays?: string;
  json?: true;
}

/** `holdfast tokens`: who may come in to a data directory or a database, whether or not servers run on it. */
export function addTokens(program: Command, usage: Usage): void {
  const tokens = program.command('tokens').description('Make, list and revoke API tokens.');
  addStorageOptions(tokens.command('create'))
    .description('Make a token, and show it this once.')
    .requiredOption('--owner <name>', 'whose tasks it reaches')
    .option('--scopes <list>', `what it may do, separated by commas: ${SCOPES.join(', ')}`, EVERYDAY_SCOPES.join(','))
    .option('--expires-in-days <days>', 'when it ends by itself; never unless given')
    .option('--json', 'print {"id", "token"}')
    .action(async ({ owner, scopes, expiresInDays, json, ...where }: CreateFlags) => {
      if (!isOwnerName(owner)) usage.refuse('--owner: 1 to 255 visible ASCII characters.');
      const asked = { owner, scopes: scopesIn(scopes, usage), expiresInMs: durationIn(expiresInDays, usage) };
      const { id, token } = await withStore(usage.storage(where), (store) => createToken(store, asked));
      if (json) process.stdout.write(`${JSON.stringify({ id, token })}\n`);
      else process.stdout.write(`${token}\n\nThis is ${id} of ${owner}. It is not shown again.\n`);
    });
  addStorageOptions(tokens.command('list'))
    .description('Show all tokens, but for what they are.')
    .option('--json', 'print an array')
    .action(async ({ json, ...where }: StorageFlags & { json?: true }) => {
      const all = await withStore(existing(where, usage), tokenListing);
      process.stdout.write(json ? `${JSON.stringify(all)}\n` : table(all));
    });
  addStorageOptions(tokens.command('revoke'))
    .description('End a token, with its sessions, tickets and streams.')
    .argument('<id>', 'its id, as `list` shows it')
    .action(async (id: string, where: StorageFlags) => {
      const isThere = await withStore(existing(where, usage), (store) => revokeToken(store, id));
      if (!isThere) usage.refuse(`There is no token ${id}.`);
      process.stdout.write(`${id} is revoked.\n`);
    });
}

async function withStore<T>(storage: Storage, use: (store: AccessStore) => Promise<T>): Promise<T> {
  try {
    const store = await openAccess(storage);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    return process.exit(1);
  }
}

/** Whoever asks for the help does not wait for a database. */
async function openAccess({ dataDir, database }: Storage): Promise<AccessStore> {
  if (database === null) return (await import('../store/sqlite/access/open.ts')).openSqliteAccess(dataDir, 'operator');
  return (await import('../store/postgres/access/open.ts')).openPostgresAccess({ url: database, use: 'operator' });
}

/** A directory that was mistyped is not to become one with no tokens in it. */
function existing(given: StorageFlags, usage: Usage): Storage {
  const storage = usage.storage(given);
  const isThere = storage.database !== null || existsSync(storage.dataDir);
  return isThere ? storage : usage.refuse(`--data: there is no directory ${storage.dataDir}.`);
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
