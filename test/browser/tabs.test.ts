import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInTabs } from '../support/chromium.ts';
import { expectToldExactly, openFollower, toldOn, untilStatus, untilTick, untilTold } from './probe-page.ts';
import { openSite, type Site } from './site.ts';

const TICK_MS = 20;
const TAKES_OVER_WITHIN_MS = 2000;
/** A browser allows a server of HTTP/1.1 so many connections. */
const CONNECTIONS = 6;

describeInTabs('Tabs of one browser', (chromium) => {
  let site: Site;
  let origin: string;
  beforeAll(async () => {
    site = await openSite();
    origin = site.proxy.url;
  });
  afterAll(() => site.close());

  async function tick(count: number): Promise<string> {
    const { id } = await site.api.createTask({ agent: 'ticker', input: { count, everyMs: TICK_MS } });
    return id;
  }

  /** Opens so many at once, when no stream of another test is left. */
  async function openTabs(count: number, after: string): Promise<{ context: BrowserContext; tabs: Page[] }> {
    await expect.poll(() => site.openStreams(), { timeout: 10_000 }).toBe(0);
    const context = await chromium.emptyProfile();
    const opening = Array.from({ length: count }, () => openFollower(context, origin, after));
    return { context, tabs: await Promise.all(opening) };
  }

  async function expectWhole(tabs: readonly Page[], after: string, taskId: string): Promise<void> {
    await Promise.all(tabs.map((tab) => untilTold(tab, 'task.completed', taskId)));
    const log = await site.api.log(after);
    for (const tab of tabs) await expectToldExactly(tab, log);
  }

  // Would fail without the sharing: two or eight streams; with a queue in place of a log: each tab would get a part.
  test.each([2, 8])('share one stream when there are %i, and each is told every event once', async (count) => {
    const after = await site.head();
    const { tabs } = await openTabs(count, after);

    const task = await tick(100);
    const streams = new Set<number>();
    while ((await site.api.task(task)).status !== 'completed') streams.add(await site.openStreams());

    await expectWhole(tabs, after, task);
    expect([...streams]).toEqual([1]);
    const roles = await Promise.all(tabs.map(roleOf));
    expect(roles.filter((role) => role === 'leader')).toHaveLength(1);
    expect(roles.filter((role) => role === 'follower')).toHaveLength(count - 1);
  });

  // Would fail without the sharing: the streams would hold all connections that the browser allows.
  test('have connections left for what they send', async () => {
    const after = await site.head();
    const { tabs } = await openTabs(CONNECTIONS + 2, after);

    const created = await Promise.all(
      tabs.map((tab) => tab.evaluate(() => window.probe.client.tasks.create({ agent: 'ticker', input: { count: 1 } }))),
    );

    const last = created.reduce((a, b) => (a.id > b.id ? a : b));
    await Promise.all(created.map(({ id }) => site.api.ended(id)));
    await expectWhole(tabs, after, last.id);
  });

  // Would fail if a tab that does not hold the connection did not take it over, or began where it is instead of where it was.
  test('go on within two seconds when the one with the connection is closed, with nothing lost or doubled', async () => {
    const after = await site.head();
    const { tabs } = await openTabs(3, after);
    const task = await tick(250);
    await Promise.all(tabs.map((tab) => untilTick(tab, task, 20)));

    for (let n = 0; n < 2; n++) {
      const leader = await leaderOf(tabs);
      tabs.splice(tabs.indexOf(leader), 1);
      await leader.close();
      await expect.poll(async () => (await Promise.all(tabs.map(roleOf))).includes('leader')).toBe(true);
      await Promise.all(tabs.map((tab) => untilTick(tab, task, 80 * (n + 1))));
    }

    await expectWhole(tabs, after, task);
    for (const tab of tabs) expect(await longestGapMs(tab)).toBeLessThan(TAKES_OVER_WITHIN_MS);
    expect(await site.openStreams()).toBe(1);
  });

  // Would fail if a page that is put aside kept the lock, or took its stale place up again when it wakes.
  test('go on when the one with the connection is frozen, and share one stream again when it is thawed', async () => {
    const after = await site.head();
    const { context, tabs } = await openTabs(3, after);
    const task = await tick(250);
    await Promise.all(tabs.map((tab) => untilTick(tab, task, 20)));
    const leader = await leaderOf(tabs);
    const others = tabs.filter((tab) => tab !== leader);
    const devtools = await context.newCDPSession(leader);

    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    await expect.poll(async () => (await Promise.all(others.map(roleOf))).includes('leader')).toBe(true);
    await Promise.all(others.map((tab) => untilTick(tab, task, 150)));
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });

    await expectWhole(tabs, after, task);
    expect(await leader.evaluate(() => window.probe.freezes)).toBe(1);
    for (const tab of others) expect(await longestGapMs(tab)).toBeLessThan(TAKES_OVER_WITHIN_MS);
    await expect.poll(() => site.openStreams(), { timeout: 10_000 }).toBe(1);
    expect((await Promise.all(tabs.map(roleOf))).filter((role) => role === 'leader')).toHaveLength(1);
  });

  // Would fail if the lock alone said who leads: a tab that hangs keeps it.
  test('go on when the one with the connection hangs, and share one stream again when it does not any more', async () => {
    const after = await site.head();
    const { tabs } = await openTabs(3, after);
    const task = await tick(500);
    await Promise.all(tabs.map((tab) => untilTick(tab, task, 20)));
    const leader = await leaderOf(tabs);
    const others = tabs.filter((tab) => tab !== leader);

    const hanging = leader.evaluate(() => {
      for (const end = performance.now() + 7000; performance.now() < end; );
    });
    await expect
      .poll(async () => (await Promise.all(others.map(roleOf))).includes('leader'), { timeout: 7000 })
      .toBe(true);
    await hanging;

    await expectWhole(tabs, after, task);
    await expect.poll(() => site.openStreams(), { timeout: 10_000 }).toBe(1);
    expect((await Promise.all(tabs.map(roleOf))).filter((role) => role === 'leader')).toHaveLength(1);
  });

  // Would fail if each tab came back by itself.
  test('come back over one stream when the server has been killed', async () => {
    const after = await site.head();
    const { tabs } = await openTabs(4, after);
    const task = await tick(60);
    await Promise.all(tabs.map((tab) => untilTick(tab, task, 20)));

    await site.down('SIGKILL');
    await site.up();

    await expectWhole(tabs, after, task);
    await Promise.all(tabs.map((tab) => untilStatus(tab, 'live')));
    await expect.poll(() => site.openStreams(), { timeout: 5000 }).toBe(1);
  });

  // Would fail if the connection outlived those who want it.
  test('leave no stream open when the last of them is closed, or has nobody listening any more', async () => {
    const { tabs } = await openTabs(2, await site.head());
    const [first, second] = tabs as [Page, Page];

    await first.close();
    await untilStatus(second, 'live');
    await expect.poll(() => site.openStreams(), { timeout: 5000 }).toBe(1);
    await second.evaluate(() => window.probe.client.close());

    await expect.poll(() => site.openStreams(), { timeout: 5000 }).toBe(0);
  });
});

function roleOf(tab: Page): Promise<string> {
  return tab.evaluate(() => window.probe.client.connection.getSnapshot().role);
}

async function leaderOf(tabs: readonly Page[]): Promise<Page> {
  const roles = await Promise.all(tabs.map(roleOf));
  const leader = tabs[roles.indexOf('leader')];
  if (leader === undefined) throw new Error(`No tab leads: ${roles}`);
  return leader;
}

/** Between two events of those that came live. */
async function longestGapMs(tab: Page): Promise<number> {
  const ticks = (await toldOn(tab)).filter(({ item }) => item.type === 'tick.told');
  return Math.max(...ticks.slice(1).map(({ at }, n) => at - (ticks[n]?.at ?? 0)));
}
