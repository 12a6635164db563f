import { getTableColumns } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';

/** The columns of a table, under the names that the schema has for them in rows. */
export function selectColumns(table: SQLiteTable, name: string): string {
  return columns(table)
    .map(([field, column]) => `${name}.${column} as ${field}`)
    .join(', ');
}

/** Inserts a row by those names, but for a primary key of one column, which SQLite gives. */
export function insertInto(table: SQLiteTable, name: string): string {
  const given = columns(table).filter(([field]) => !(getTableColumns(table)[field]?.primary ?? false));
  return `insert into ${name} (${given.map(([, column]) => column).join(', ')})
    values (${given.map(([field]) => `@${field}`).join(', ')})`;
}

/** `column = @field` for the fields that are wanted. */
export function assignColumns(table: SQLiteTable, wanted: (field: string) => boolean): string {
  return columns(table)
    .filter(([field]) => wanted(field))
    .map(([field, column]) => `${column} = @${field}`)
    .join(', ');
}

function columns(table: SQLiteTable): [field: string, column: string][] {
  return Object.entries(getTableColumns(table)).map(([field, { name }]) => [field, name]);
}
