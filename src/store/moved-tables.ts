/** What is copied from one engine to another, by the names of the schemas: each table refers to earlier ones only. */
export const MOVED_TABLES = [
  ...(['log', 'logEpoch', 'task', 'conversation', 'journal', 'question', 'event', 'message'] as const),
  ...(['idempotencyKey', 'token', 'accessGrant'] as const),
] as const;
export type MovedTable = (typeof MOVED_TABLES)[number];

/** A row by the names that the schemas have for its columns. What is a boolean on PostgreSQL is 0 or 1 here. */
export type MovedRow = Readonly<Record<string, string | number | null>>;
