import { afterAll, beforeAll, describe } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { testChildren } from './suite/children.ts';
import { testClock } from './suite/clock.ts';
import { testCommits } from './suite/commits.ts';
import { testConversations, testTurnLanes } from './suite/conversations.ts';
import { testEvents } from './suite/events.ts';
import { testJournals } from './suite/journal.ts';
import { testKeys } from './suite/keys.ts';
import { testLeavings } from './suite/leavings.ts';
import { testLists } from './suite/lists.ts';
import { testQueue } from './suite/queue.ts';
import { testSnapshots } from './suite/snapshots.ts';

export interface Engine {
  name: string;
  /**
   * Opens an empty store, or that of `dir` again, which is the name of nothing else whatever the engine makes of it. Only
   * engines with a clock of their own take `now`.
   */
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
    testSnapshots(shared);
    testLists(shared);
    testJournals(shared);
    testChildren(shared);
    testConversations(shared);
    testQueue(engine);
    testLeavings(engine);
    testTurnLanes(engine);
    if (engine.hasClock) testClock(engine);
  });
}
