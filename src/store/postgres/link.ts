import type { Sql, UnsafeQueryOptions } from 'postgres';
import { ConnectionLost } from './failure.ts';
import type { Rows, Statement, Value } from './statement.ts';

/** One connection. Once it is lost it stays so, and everything that was asked on it fails. */
export interface Link {
  readonly isOpen: boolean;
  /** Settles when it is lost, or has been let go of. */
  readonly lost: Promise<void>;
  /**
   * Sends a statement behind those that are on their way, without waiting for them: what is asked in one turn travels
   * together. Await all of it at once: of those that fail each rejects.
   *
   * @throws ConnectionLost when the connection is lost before the answer has come
   * @throws PostgresError when the server says so
   */
  ask<Row>(statement: Statement<Row>, ...values: readonly Value[]): Promise<Rows<Row>>;
  /** Begins a transaction, whose settings are those of the connection. @param mode as in `begin isolation level …` */
  begin(mode?: string): Promise<unknown>;
  /** Lets go of it, whatever is under way. */
  close(cause?: Error): void;
}

/** A link, and what its connection tells it. */
export interface OwnedLink extends Link {
  /** To be told when the connection has closed by itself. */
  onClosed(): void;
}

/** How a connection is told what its transactions may take. */
export interface LinkOptions {
  /** Whether statements are prepared by name: not where each transaction may be on another connection of a pooler's. */
  prepare: boolean;
  /** What each transaction must be told, where the connection cannot remember it; else empty. */
  settings: string;
  /** So long may an answer take: a connection whose other end is gone never says so. */
  patienceMs: number;
}

/** With what its types leave out. */
type UnsafeOptions = UnsafeQueryOptions & { simple: boolean };

/** `commit` and its like are nothing to prepare. */
function isCommand(text: string): boolean {
  return !text.includes(' ');
}

interface Waiter {
  reject(error: Error): void;
}

/** @param sql a pool of one, which never connects again */
export function createLink(
  sql: Sql,
  disconnect: () => void,
  { prepare, settings, patienceMs }: LinkOptions,
): OwnedLink {
  const waiters = new Set<Waiter>();
  let lost: ConnectionLost | null = null;
  let tellLost = () => {};
  const losing = new Promise<void>((resolve) => {
    tellLost = resolve;
  });
  let timer: NodeJS.Timeout | undefined;

  function watch(): void {
    clearTimeout(timer);
    if (waiters.size > 0)
      timer = setTimeout(() => lose(new ConnectionLost('The database does not answer.')), patienceMs);
  }

  function lose(error: ConnectionLost): void {
    if (lost !== null) return;
    lost = error;
    clearTimeout(timer);
    for (const waiter of waiters) waiter.reject(error);
    waiters.clear();
    disconnect();
    tellLost();
  }

  function settle<T>(answer: PromiseLike<T>): Promise<T> {
    if (lost !== null) return Promise.reject(lost);
    return new Promise<T>((resolve, reject) => {
      const waiter = { reject };
      const done = () => {
        waiters.delete(waiter);
        watch();
      };
      waiters.add(waiter);
      if (waiters.size === 1) watch();
      answer.then(
        (rows) => {
          done();
          resolve(rows);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }

  return {
    get isOpen() {
      return lost === null;
    },
    lost: losing,
    ask<Row>({ text }: Statement<Row>, ...values: readonly Value[]) {
      if (lost !== null) return Promise.reject(lost);
      const simple = isCommand(text);
      return settle(sql.unsafe(text, [...values] as never[], { prepare, simple } as UnsafeOptions)) as Promise<
        Rows<Row>
      >;
    },
    begin(mode = '') {
      if (lost !== null) return Promise.reject(lost);
      return settle(sql.unsafe(`begin ${mode}; ${settings}`));
    },
    close(cause) {
      lose(new ConnectionLost('The connection is closed.', cause));
    },
    onClosed() {
      lose(new ConnectionLost('The connection to the database was closed.'));
    },
  };
}
