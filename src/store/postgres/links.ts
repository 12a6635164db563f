import { isLoss } from './failure.ts';
import type { Link } from './link.ts';

/** A bounded number of connections, opened as they are needed, each lent to one at a time. */
export interface Links {
  /**
   * Lends a connection, waiting for one in the order of the calls when all are lent. One with which something has failed is
   * not lent again, since it may be in the middle of anything.
   *
   * @throws whatever opening one throws, and whatever the work does
   */
  use<T>(work: (link: Link) => Promise<T>): Promise<T>;
  /** Lets go of all, once what is under way is done. Nothing can be asked from then on. */
  end(): Promise<void>;
}

export function createLinks(open: () => Promise<Link>, size: number): Links {
  const idle: Link[] = [];
  const queue: (() => void)[] = [];
  const closing: (() => void)[] = [];
  let lent = 0;
  let ended = false;

  async function enter(): Promise<void> {
    if (ended) throw new Error('The store is closed.');
    if (lent >= size) await new Promise<void>((resolve) => queue.push(resolve));
    else lent += 1;
  }

  /** Whoever waits has the place of the one who goes. */
  function leave(): void {
    const next = queue.shift();
    if (next !== undefined) next();
    else lent -= 1;
    if (ended && lent === 0) for (const resolve of closing) resolve();
  }

  async function lend<T>(work: (link: Link) => Promise<T>): Promise<T> {
    const link = takeIdle() ?? (await open());
    try {
      const result = await work(link);
      if (link.isOpen) idle.push(link);
      return result;
    } catch (error) {
      link.close();
      // Where one was lost the others may be, and each would take its time to be found out.
      if (isLoss(error)) closeIdle();
      throw error;
    }
  }

  function closeIdle(): void {
    for (const link of idle.splice(0)) link.close();
  }

  function takeIdle(): Link | undefined {
    let link = idle.pop();
    while (link !== undefined && !link.isOpen) link = idle.pop();
    return link;
  }

  return {
    async use(work) {
      await enter();
      try {
        return await lend(work);
      } finally {
        leave();
      }
    },
    async end() {
      ended = true;
      if (lent > 0) await new Promise<void>((resolve) => closing.push(resolve));
      closeIdle();
    },
  };
}
