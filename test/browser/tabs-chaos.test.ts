import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInTabs } from '../support/chromium.ts';
import { diceOf } from '../support/dice.ts';
import { expectToldExactly, openFollower, untilTick, untilTold } from './probe-page.ts';
import { openSite, type Site } from './site.ts';

/** Change it to look elsewhere. */
const SEED = Number(process.env.HOLDFAST_TABS_SEED ?? 20_261_201);
/** `HOLDFAST_TABS_MOVES=300` for a long one. */
const MOVES = Number(process.env.HOLDFAST_TABS_MOVES ?? 15);
const TABS = 4;
const TICK_MS = 10;
/** Events between two moves. */
const PACE = 40;

describeInTabs('Tabs that are reloaded, closed, opened, frozen, left and cut off at random', (chromium) => {
  let site: Site;
  let origin: string;
  beforeAll(async () => {
    site = await openSite();
    origin = site.proxy.url;
  });
  afterAll(() => site.close());

  // Would fail with any seam between pages and streams, leaders and followers, or a cursor and what it stands for.
  test('are each told every event once, and share one stream in the end', async () => {
    const dice = diceOf(SEED);
    const after = await site.head();
    const context = await chromium.emptyProfile();
    const tabs: Page[] = [];
    for (let n = 0; n < TABS; n++) tabs.push(await openTab(context));
    const input = { count: MOVES * PACE + 400, everyMs: TICK_MS };
    const { id: task } = await site.api.createTask({ agent: 'ticker', input });
    const moves: string[] = [];
    let frozen: { tab: Page; devtools: CDPSession } | null = null;

    async function openTab(inContext: BrowserContext): Promise<Page> {
      return openFollower(inContext, origin, after, { keeps: true });
    }
    async function thaw(): Promise<void> {
      await frozen?.devtools.send('Page.setWebLifecycleState', { state: 'active' });
      frozen = null;
    }

    for (let move = 0; move < MOVES; move++) {
      const awake = tabs.filter((tab) => tab !== frozen?.tab);
      const tab = dice.pick(awake);
      const what = dice.pick(['reload', 'close', 'freeze', 'thaw', 'leave', 'cut', 'front'] as const);
      moves.push(`${what} ${tabs.indexOf(tab)}`);
      switch (what) {
        case 'reload':
          await tab.reload();
          break;
        case 'close':
          await tab.close();
          tabs.splice(tabs.indexOf(tab), 1, await openTab(context));
          break;
        case 'freeze': {
          await thaw();
          const devtools = await context.newCDPSession(tab);
          await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
          frozen = { tab, devtools };
          break;
        }
        case 'thaw':
          await thaw();
          break;
        case 'leave':
          await tab.goto(`${origin}/elsewhere`);
          await tab.goBack({ waitUntil: 'commit' });
          break;
        case 'cut':
          site.proxy.cut();
          break;
        case 'front':
          await tab.bringToFront();
          break;
      }
      const witness = dice.pick(tabs.filter((each) => each !== frozen?.tab));
      await untilTick(witness, task, (move + 1) * PACE);
    }
    await thaw();
    await Promise.all(tabs.map((tab) => untilTold(tab, 'task.completed', task)));

    const log = await site.api.log(after);
    for (const tab of tabs)
      await expectToldExactly(tab, log).catch((error) => expect.fail(`${moves.join(', ')}: ${error}`));
    await expect.poll(() => site.openStreams(), { timeout: 15_000 }).toBe(1);
  }, 120_000);
});
