import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import type { MovedRow } from '../moved-tables.ts';
import { columnsOf, recordset } from './columns.ts';
import { toText } from './escape.ts';

/** Which columns of a table are of which kind, by the names that the schema has for them in rows. */
interface Kinds {
  booleans: string[];
  texts: string[];
}

/** Takes many rows in one statement, with the keys that they have. */
export function insertMoved(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  const columns = columnsOf(table);
  return `insert into ${schema}.${name} (${columns.map(([, column]) => column.name).join(', ')}) overriding system value
    select ${columns.map(([field]) => `given."${field}"`).join(', ')} from ${recordset(table, '$1')}`;
}

/** Makes JSON for {@link insertMoved} of a row out of another engine. */
export function createMovedText(table: PgTable): (row: MovedRow) => string {
  const { booleans, texts } = kindsOf(table);
  return (row) => {
    const moved: Record<string, string | number | boolean | null> = { ...row };
    for (const field of booleans) moved[field] = row[field] === 1;
    // JSON has nothing to escape; of other text it is not worth knowing which can.
    for (const field of texts) moved[field] = toText(row[field] as string | null);
    return JSON.stringify(moved);
  };
}

function kindsOf(table: PgTable): Kinds {
  const columns = columnsOf(table);
  const of = (pattern: RegExp) =>
    columns.filter(([, column]) => pattern.test(column.getSQLType())).map(([field]) => field);
  return { booleans: of(/^boolean$/), texts: of(/^text/) };
}
