import { isLoss } from './failure.ts';
import type { Link } from './link.ts';
import type { Rows, Statement, Value } from './statement.ts';

/** One connection for many who ask one thing each: what they ask travels together, in the order of the calls. */
export interface SharedLink {
  /**
   * Asks what may be done twice: when the connection is lost before the answer has come, it is asked once more on another.
   *
   * @throws whatever opening a connection throws, and PostgresError when the server says so
   */
  ask<Row>(statement: Statement<Row>, ...values: readonly Value[]): Promise<Rows<Row>>;
  /** Lets go of it, once everything is answered. Nothing can be asked from then on. */
  end(): Promise<void>;
}

/** @param open is called when something is asked and there is no connection, by one at a time */
export function createSharedLink(open: () => Promise<Link>): SharedLink {
  const underWay = new Set<Promise<unknown>>();
  let opening: Promise<Link> | null = null;
  let ended = false;

  function take(): Promise<Link> {
    opening ??= open();
    const mine = opening;
    mine.catch(() => forget(mine));
    return mine;
  }

  function forget(lost: Promise<Link>): void {
    if (opening === lost) opening = null;
  }

  async function askOn<Row>(last: boolean, statement: Statement<Row>, values: readonly Value[]): Promise<Rows<Row>> {
    const taken = take();
    const link = await taken;
    try {
      return await link.ask(statement, ...values);
    } catch (error) {
      if (link.isOpen && !isLoss(error)) throw error;
      link.close();
      forget(taken);
      if (last) throw error;
      return askOn(true, statement, values);
    }
  }

  return {
    ask(statement, ...values) {
      if (ended) return Promise.reject(new Error('The store is closed.'));
      const answer = askOn(false, statement, values);
      underWay.add(answer);
      const done = () => void underWay.delete(answer);
      answer.then(done, done);
      return answer;
    },
    async end() {
      ended = true;
      await Promise.allSettled(underWay);
      const link = await opening?.catch(() => null);
      link?.close();
    },
  };
}
