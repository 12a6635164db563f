import { bigint, customType, pgSchema } from 'drizzle-orm/pg-core';

/** All tables stand in a schema of their own, so that they can share a database with others. */
export const holdfast = pgSchema('holdfast');

/** Compared byte by byte, as on SQLite, whatever the database's own collation is. */
export const text = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** Epoch ms, a seq, a row's key: all below 2^53, and numbers in JavaScript. */
export function long(name = '') {
  return bigint(name, { mode: 'number' });
}

/** A row's key, given by the database in the order of the inserts. */
export function rowKey(name = '') {
  return long(name).primaryKey().generatedAlwaysAsIdentity();
}

/** Checks that a column has one of these values. */
export function oneOf(column: string, values: readonly string[]): string {
  return `${column} in (${values.map((value) => `'${value}'`).join(', ')})`;
}
