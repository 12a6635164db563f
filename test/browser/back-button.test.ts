import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInTabs } from '../support/chromium.ts';
import { expectToldExactly, openFollower, toldOn, untilStatus, untilTick, untilTold } from './probe-page.ts';
import { openSite, type Site } from './site.ts';

describeInTabs('A page that was left and comes back by the back button', (chromium) => {
  let site: Site;
  let origin: string;
  beforeAll(async () => {
    site = await openSite();
    origin = site.proxy.url;
  });
  afterAll(() => site.close());

  // Would fail without the rest at `pagehide`: a page with an open connection is not kept, and shown from anew.
  test('comes out of the cache, live again and with nothing lost or doubled', async () => {
    const after = await site.head();
    const page = await openFollower(await chromium.emptyProfile(), origin, after);
    const { id: task } = await site.api.createTask({ agent: 'ticker', input: { count: 150, everyMs: 20 } });
    await untilTick(page, task, 10);

    await page.goto(`${origin}/elsewhere`);
    await expect.poll(() => site.openStreams(), { timeout: 5000 }).toBe(0);
    await page.goBack({ waitUntil: 'commit' });
    const returns = await page.evaluate(() => window.probe.returns);
    await untilTold(page, 'task.completed', task);

    const reasons = await page.evaluate(() => {
      const [entry] = performance.getEntriesByType('navigation');
      return JSON.stringify((entry as { notRestoredReasons?: unknown } | undefined)?.notRestoredReasons ?? null);
    });
    expect(returns, `not out of the cache for ${reasons}`).toBe(1);
    await expectToldExactly(page, await site.api.log(after));
    await untilStatus(page, 'live');
    expect(await site.openStreams()).toBe(1);
  });

  // Would fail if a page in the cache kept the lock: another tab would wait for a leader that says nothing.
  test('leaves the connection to other tabs while it is away, and shares theirs when it is back', async () => {
    const after = await site.head();
    const context = await chromium.emptyProfile();
    const page = await openFollower(context, origin, after);
    const other = await openFollower(context, origin, after);
    const { id: task } = await site.api.createTask({ agent: 'ticker', input: { count: 200, everyMs: 20 } });
    await untilTick(page, task, 10);

    await page.goto(`${origin}/elsewhere`);
    await untilTick(other, task, 100);
    const role = await other.evaluate(() => window.probe.client.connection.getSnapshot().role);
    await page.goBack({ waitUntil: 'commit' });
    await Promise.all([page, other].map((each) => untilTold(each, 'task.completed', task)));

    expect(role).toBe('leader');
    const log = await site.api.log(after);
    for (const each of [page, other]) await expectToldExactly(each, log);
    expect(await site.openStreams()).toBe(1);
  });

  // Would fail if places were compared by their numbers alone: those of another past are small again.
  test('is told when the server was put back to an older copy meanwhile, and then all that happens', async () => {
    const { id: old } = await site.api.createTask({ agent: 'ticker', input: { count: 20 } });
    await site.api.ended(old);
    await site.down('SIGTERM');
    const putBack = site.backUp();
    await site.up();
    const context = await chromium.emptyProfile();
    const after = await site.head();
    const page = await openFollower(context, origin, after);
    const other = await openFollower(context, origin, after);
    const { id: lost } = await site.api.createTask({ agent: 'ticker', input: { count: 500 } });
    await Promise.all([page, other].map((each) => untilTold(each, 'task.completed', lost)));

    await page.goto(`${origin}/elsewhere`);
    await site.down('SIGTERM');
    putBack();
    await site.up();
    await untilTold(other, 'reset');
    await page.goBack({ waitUntil: 'commit' });
    const { id: task } = await site.api.createTask({ agent: 'ticker', input: { count: 50 } });
    await Promise.all([page, other].map((each) => untilTold(each, 'task.completed', task)));

    expect(await page.evaluate(() => window.probe.returns)).toBe(1);
    const log = (await site.api.log()).filter(({ taskId }) => taskId === task);
    for (const each of [page, other]) {
      const told = (await toldOn(each)).map(({ item }) => item);
      expect(told.filter(({ type }) => type === 'reset')).toHaveLength(1);
      expect(told.flatMap((item) => ('seq' in item && item.taskId === task ? [item.seq] : []))).toEqual(
        log.map(({ seq }) => seq),
      );
    }
  });
});
