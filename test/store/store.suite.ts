import { afterAll, beforeAll, describe } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { testClock } from './suite/clock.ts';
import { testCommits } from './suite/commits.ts';
import { testEvents } from './suite/events.ts';
import { testKeys } from './suite/keys.ts';
import { testLists } from './suite/lists.ts';
import { testQueue } from './suite/queue.ts';

export interface Engine {
  name: string;
  /** Opens an empty store, or that of `dir` again. Only engines with a clock of their own take `now`. */
  open(options?: { dir?: string; now?: () => number }): Promise<Store>;
  hasClock: boolean;
}

/** What every engine must do. */
export function testStore(engine: Engine): void {
  describe(`the store on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await engine.open();
    });
    afterAll(() => store.close());
    const shared = () => store;

    testCommits(shared);
    testKeys(shared);
    testEvents(shared);
    testLists(shared);
    testQueue(engine);
    if (engine.hasClock) testClock(engine);
  });
}
