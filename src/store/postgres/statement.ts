/** What can stand for a parameter. A list is for an array of text or of bigint, which the statement must say: `$1::text[]`. */
export type Value = string | number | boolean | null | readonly (string | null)[] | readonly (number | null)[];

/** A statement as it is prepared, once on each connection. */
export interface Statement<Row> {
  readonly text: string;
  /** Never there: it carries the type of what comes back. */
  readonly rowType?: (row: Row) => Row;
}

/** What came back. */
export type Rows<Row> = readonly Row[] & {
  /** The command's tag: `SELECT`, `COMMIT` … */
  readonly command: string;
  /** How many rows it has returned or changed. */
  readonly count: number;
};

/** @param text its columns come as the fields of `Row`, bigint as numbers */
export function statement<Row = never>(text: string): Statement<Row> {
  return { text };
}

/** A statement, and what it is to be asked about. */
export type Asked<Row = never> = readonly [statement: Statement<Row>, ...values: Value[]];
