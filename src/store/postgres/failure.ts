import { StoreError } from '../store.ts';

/** A connection that is of no use any more: closed, silent for too long, or never made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/**
 * What passes, or is mended by somebody else: no connection, a server that starts or stops, is a standby or has too many
 * connections, a lock or a statement that took too long, transactions in each other's way.
 */
const PASSING = /^(08|57P|53[^1]|28|3D000|25006|25P0[34]|40|55P03|57014|55000|58030)/;
/** What of that is likely to go well at once. */
const CONFLICT = /^(40001|40P01|55P03|57014|25P0[34])/;
const FULL = '53100';
/** What is stored cannot be read any more. */
const CORRUPT = /^XX00[12]/;
const CLOSED_BY_SERVER = /^(08|57P0)/;
/** Of Node's sockets, and of postgres.js. */
const CONNECTION = /^(E[A-Z]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+)$/;

/** What a failed transaction means to the one who asked. An error that is no trouble of the database stays as it is. */
export function asStoreError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  if (code === FULL) return new StoreError('storage_full', error);
  if (CORRUPT.test(code)) return new StoreError('storage_failed', error);
  if (isLoss(error) || PASSING.test(code)) return new StoreError('storage_unavailable', error);
  return error;
}

/** Whether the same may go well if it is done again at once: nothing was wrong with it or with the database. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(codeOf(error));
}

/** Whether the server has refused a statement, and with it the transaction: whatever comes behind it changes nothing. */
export function isRolledBack(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** Whether a connection was lost, which says nothing of the next one. */
export function isLoss(error: unknown): boolean {
  return error instanceof ConnectionLost || CONNECTION.test(codeOf(error)) || CLOSED_BY_SERVER.test(codeOf(error));
}

/** The SQLSTATE of an error of the server, or what Node and postgres.js call theirs; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
