import { type Queries, StoreError, type StoreReads } from '../store.ts';
import { type Ask, useAgain } from './ask.ts';
import type { DatabaseClock } from './database-clock.ts';
import { asStoreError } from './failure.ts';
import type { Links } from './links.ts';
import { createQueries } from './queries.ts';
import { type Rows, type Statement, statement, type Value } from './statement.ts';

const COMMIT = statement('commit');

export interface ReadsOptions {
  clock: DatabaseClock;
  /** Told when what is stored is found to be unreadable. */
  onFailed(error: StoreError): void;
  /** Told of an owner of whom somebody wants to be told. */
  onOwner(owner: string): void;
}

/** The reads, on connections of their own: a slow list holds up no commit. */
export function createReads(links: Links, { clock, onFailed, onOwner }: ReadsOptions): StoreReads {
  const ask: Ask = (asked, ...values) => told(useAgain(links, (link) => link.ask(asked, ...values)));

  async function snapshot<T>(look: (reads: Queries) => Promise<T>): Promise<T> {
    const asked: Asked[] = [];
    let isOver = false;
    const gather = <Row>(text: Statement<Row>, ...values: readonly Value[]) => {
      if (isOver) return Promise.reject(new Error('A snapshot is over for what is asked after the first wait.'));
      return new Promise<Rows<Row>>((resolve, reject) => {
        asked.push({ send: async (by) => resolve.bind(null, await by(text, ...values)), reject });
      });
    };
    const seen = look(queriesOf(gather));
    isOver = true;
    const [all] = await Promise.all([seen, tell(asked)]);
    return all;
  }

  async function tell(asked: readonly Asked[]): Promise<void> {
    try {
      for (const resolve of await answersTo(asked)) resolve();
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  /** All of it travels together. One statement sees one instant by itself. */
  function answersTo(asked: readonly Asked[]): Promise<(() => void)[]> {
    if (asked.length < 2) return Promise.all(asked.map(({ send }) => send(ask)));
    const read = useAgain(links, async (link) => {
      const begun = link.begin('isolation level repeatable read read only');
      const answers = Promise.all(asked.map(({ send }) => send(link.ask)));
      const [, all] = await Promise.all([begun, answers, link.ask(COMMIT)]);
      return all;
    });
    return told(read);
  }

  async function told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      const error = asStoreError(cause);
      if (error instanceof StoreError && error.code === 'storage_failed') onFailed(error);
      throw error;
    }
  }

  /** Whoever follows a log asks first where it stands. */
  function queriesOf(by: Ask): Queries {
    const queries = createQueries(by);
    const log = (owner: string) => {
      onOwner(owner);
      return queries.log(owner);
    };
    return { ...queries, log };
  }

  return { ...queriesOf(ask), snapshot, now: clock.now };
}

/** What a snapshot is to be asked. */
interface Asked {
  /** @returns what gives the answer to the one who asked */
  send(ask: Ask): Promise<() => void>;
  reject(error: unknown): void;
}
