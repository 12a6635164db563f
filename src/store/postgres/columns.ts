import { getTableColumns } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';

/** The columns of a table, under the names that the schema has for them in rows. */
export function selectColumns(table: PgTable, name: string): string {
  return columnsOf(table)
    .map(([field, column]) => `${name}.${column.name} as "${field}"`)
    .join(', ');
}

/**
 * Rows given as JSON, under those names: many go in one statement, whose text is always the same.
 *
 * @param parameter `$1`, say, an array of objects
 * @param more what the objects have beside, with types
 * @param wanted which of the columns they have, if not all
 */
export function recordset(
  table: PgTable,
  parameter: string,
  more: Record<string, string> = {},
  wanted: (field: string) => boolean = () => true,
): string {
  const own = columnsOf(table).filter(([field]) => wanted(field));
  const fields = [...own.map(([field, column]) => [field, column.getSQLType()]), ...Object.entries(more)];
  return `json_to_recordset(${parameter}::text::json) as given(${fields.map(([field, type]) => `"${field}" ${type}`).join(', ')})`;
}

/**
 * Inserts such rows in their order, but for the keys that the database gives.
 *
 * @param instead what stands for a field, if not what was given
 */
export function insertGiven(
  table: PgTable,
  more: Record<string, string> = {},
  instead: Record<string, string> = {},
): string {
  const given = columnsOf(table).filter(([, column]) => column.generatedIdentity === undefined);
  return `insert into ${nameOf(table)} (${given.map(([, column]) => column.name).join(', ')})
    select ${given.map(([field]) => instead[field] ?? `given."${field}"`).join(', ')} from ${recordset(table, '$1', more)}`;
}

/** `column = given.field` for the fields that are wanted. */
export function assignGiven(table: PgTable, wanted: (field: string) => boolean): string {
  return assign(table, wanted, (field) => `given."${field}"`);
}

/** `column = excluded.column` for the fields that are wanted. */
export function assignExcluded(table: PgTable, wanted: (field: string) => boolean): string {
  return assign(table, wanted, (_, column) => `excluded.${column}`);
}

function assign(table: PgTable, wanted: (field: string) => boolean, value: (field: string, column: string) => string) {
  return columnsOf(table)
    .filter(([field]) => wanted(field))
    .map(([field, { name }]) => `${name} = ${value(field, name)}`)
    .join(', ');
}

/** Those that are written; what the database makes of them is not read with them. */
export function columnsOf(table: PgTable): [field: string, column: PgColumn][] {
  return Object.entries(getTableColumns(table)).filter(([, { generated }]) => generated === undefined);
}

function nameOf(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}
