import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// Reads the text of an option. Each throws Error with what is wrong, for people.

const AGENT_EXTENSIONS = ['.js', '.mjs', '.ts'];

const POSTGRES_URL = /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?([^/?#@]+)(?:\/[^/?#@]*)?(?:\?[^#@]*)?$/;

/** Any text but an empty one. */
export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new Error('a value is needed.');
  return text;
}

/** Decimal digits, from `min` to `max`, both included. */
export function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`"${text}" is not a whole number from ${min} to ${max}.`);
}

/** Decimal digits with or without a fraction, from `min` to `max`, both included. */
export function numberBetween(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`"${text}" is not a number from ${min} to ${max}.`);
}

/** One of these words. */
export function oneOf<Text extends string>(text: string, known: readonly Text[]): Text {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new Error(`"${text}" is not one of ${known.join(', ')}.`);
  return found;
}

/** An absolute URL of `http:` or `https:`. */
export function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error(`"${text}" is no URL of http or https.`);
  return url;
}

/**
 * A URL of PostgreSQL, of one server or of several from which the one that can be written is taken:
 * `postgres://user@first,second:5433/name`. It may hold a password: what is wrong with it is said without repeating it.
 */
export function postgresUrl(text: string): string {
  const hosts = POSTGRES_URL.exec(text)?.[1];
  const isGood = hosts?.split(',').every((host) => URL.canParse(text.replace(hosts, host)));
  if (isGood && !/%(?![0-9a-f]{2})/i.test(text)) return text;
  throw new Error(
    'it is no URL like postgres://user:password@host:5432/name; in a password @ is %40, / is %2F, % is %25.',
  );
}

/** Such a URL as it may be shown: without the password, and without what follows the name of the database. */
export function showDatabase(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):[^/]*@/, '$1@').replace(/\?.*$/, '');
}

/** The name or address of a machine, without a port. */
export function hostName(text: string): string {
  if (isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)) return text;
  throw new Error(`"${text}" is no name of a host; it has no port.`);
}

/** As `Origin` writes it, so that the two can be compared. Apps have schemes of their own: `capacitor://localhost`. */
export function origin(text: string): string {
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d+)?$/.test(text)) return text;
  const url = httpUrl(text);
  if (url.href !== `${url.origin}/` && url.href !== url.origin)
    throw new Error(`"${text}" has more than an origin: ${url.origin}.`);
  return url.origin;
}

/** What configures the server is none of the agents'; the variables of the built-in ones they have anyway. */
export function variableName(text: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*\*?$|^\*$/.test(text)) throw new Error(`"${text}" is no name of a variable.`);
  if (text.startsWith('HOLDFAST_')) throw new Error(`"${text}" is of the server, and goes to no agent.`);
  return text;
}

/** @returns the file's URL, as modules are named when they are imported */
export function agentsFile(text: string): URL {
  const file = path.resolve(nonEmpty(text));
  if (!AGENT_EXTENSIONS.includes(path.extname(file))) {
    throw new Error(`"${text}" does not end in ${AGENT_EXTENSIONS.join(', ')}.`);
  }
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`there is no file ${file}.`);
  return pathToFileURL(file);
}
