import { StartRefusal } from '../start-refusal.ts';
import { codeOf } from './failure.ts';

/** What the operator knows a database by. @param url may hold a password, which is told to nobody */
export function databaseName(url: string): string {
  const [, hosts = '', name = ''] = /^\w+:\/\/(?:[^@/]*@)?([^/?]*)\/?([^?]*)/.exec(url) ?? [];
  return `${decodeURIComponent(name)} at ${hosts === '' ? 'localhost' : hosts}`;
}

/** What an error means to whoever starts a process over a database. One that says nothing of that stays as it is. */
export function asStartRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof StartRefusal) return error;
  const cause = error.cause instanceof Error ? error.cause : error;
  const text = textOf(codeOf(cause), cause.message, `The database ${databaseName(url)}`);
  return text === null ? error : new StartRefusal(text, error);
}

function textOf(code: string, message: string, database: string): string | null {
  if (/^28/.test(code)) return `${database} lets nobody in with this user and password (${message}).`;
  if (code === '3D000') return `${database} does not exist; make it with createdb.`;
  if (code === '42501') return `${database} does not allow this user to make or use its tables (${message}).`;
  if (code === '53100') return `${database} has no space left on its disk; free some, and start again.`;
  if (code === '53300') return `${database} has as many connections as it allows (${message}).`;
  if (/CERT|LEAF_SIGNATURE|^ERR_(TLS|SSL)/.test(code))
    return `${database} has no certificate that is trusted here: ${message}.`;
  if (/^(E[A-Z]+|08...|57P.*|CONNECT.*)?$/.test(code)) return `${database} cannot be reached: ${message}`;
  return null;
}
