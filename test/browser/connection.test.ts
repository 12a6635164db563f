import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import {
  connectionsOn,
  expectToldExactly,
  openFollower,
  openProbe,
  untilStatus,
  untilTick,
  untilTold,
} from './probe-page.ts';
import { mendAfterwards, openSite, type Site } from './site.ts';

const TICK_MS = 20;

describeInChromium('The client, in a page,', (chromium) => {
  let site: Site;
  let origin: string;
  beforeAll(async () => {
    site = await openSite();
    origin = site.proxy.url;
  });
  afterAll(() => site.close());

  /** One page over the connection that tabs share, and one with a connection of its own: what breaks differs. */
  async function followers(after: string): Promise<Page[]> {
    return Promise.all(
      [true, false].map(async (share) => openFollower(await chromium.newContext(), origin, after, { share })),
    );
  }

  async function tick(count: number, everyMs = TICK_MS): Promise<string> {
    const { id } = await site.api.createTask({ agent: 'ticker', input: { count, everyMs } });
    return id;
  }

  async function expectWhole(pages: readonly Page[], after: string, taskId: string): Promise<void> {
    await Promise.all(pages.map((page) => untilTold(page, 'task.completed', taskId)));
    const log = await site.api.log(after);
    for (const page of pages) await expectToldExactly(page, log);
  }

  // Would fail if a cursor were given out before its event, or a resumption began at the wrong one.
  test('goes on after reloads in the middle of a stream where the page had kept it', async () => {
    const after = await site.head();
    const context = await chromium.newContext();
    const page = await openFollower(context, origin, after, { keeps: true });
    const task = await tick(200);

    for (let reloads = 1; reloads <= 4; reloads++) {
      await untilTick(page, task, reloads * 30);
      await page.reload();
    }

    await expectWhole([page], after, task);
  });

  // Would fail without a resumption, or without the reconnection itself.
  test.each(['SIGTERM', 'SIGKILL'] as const)('goes on when the server goes by %s and comes back', async (signal) => {
    const after = await site.head();
    const pages = await followers(after);
    const task = await tick(100);
    await Promise.all(pages.map((page) => untilTick(page, task, 10)));

    await site.down(signal);
    await Promise.all(pages.map((page) => untilStatus(page, 'reconnecting')));
    await site.up();

    await expectWhole(pages, after, task);
    await Promise.all(pages.map((page) => untilStatus(page, 'live')));
  });

  // Would fail like EventSource, which gives up for ever at the first answer that is no stream.
  test.each(['bad-gateway', 'unavailable', 'drop'] as const)(
    'outlasts a proxy that is %s for a while',
    async (mode) => {
      mendAfterwards(site);
      const after = await site.head();
      const pages = await followers(after);
      const task = await tick(100);
      await Promise.all(pages.map((page) => untilTick(page, task, 10)));

      const before = site.proxy.requests.length;
      site.proxy.mode = mode;
      site.proxy.cut();
      await Promise.all(pages.map((page) => untilStatus(page, 'reconnecting')));
      await expect.poll(() => site.proxy.requests.length, { timeout: 30_000 }).toBeGreaterThan(before + 5);
      const [connection] = (await connectionsOn(pages[0] as Page)).slice(-1);
      site.proxy.mode = 'pass';

      await expectWhole(pages, after, task);
      expect(connection?.status).toBe('reconnecting');
      await Promise.all(pages.map((page) => untilStatus(page, 'live')));
    },
  );

  // Would fail without the sending again: nobody would learn that the answer was taken.
  test('[Q9] takes an answer whose reply was lost for given, and sends it until it knows', async () => {
    mendAfterwards(site);
    const conversation = await site.newConversation();
    const { task } = await site.write(conversation, 'asker', 'text');
    await site.api.settled(task.id);
    const { id } = await site.api.pendingQuestion(task.id);
    const page = await openProbe(await chromium.newContext(), origin, {});
    const posts = () => site.proxy.requests.filter((request) => request.includes(`${id}/answers`)).length;

    site.proxy.mode = 'lose-answers';
    const answered = page.evaluate((question) => window.probe.client.questions.answer(question, { word: 'again' }), id);
    await expect.poll(posts, { timeout: 10_000 }).toBeGreaterThan(1);
    site.proxy.mode = 'pass';

    expect(await answered).toMatchObject({ status: 'answered', answers: { word: 'again' } });
    const events = await site.api.eventsOf(task.id);
    expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
  });

  // Would fail without the idempotency key: each try would make a task of its own.
  test('makes one task of a request whose reply was lost, however often it is sent', async () => {
    mendAfterwards(site);
    const after = await site.head();
    const page = await openProbe(await chromium.newContext(), origin, {});
    const posts = () => site.proxy.requests.filter((request) => request === 'POST /v1/tasks').length;
    const before = posts();

    site.proxy.mode = 'lose-answers';
    const created = page.evaluate(() => window.probe.client.tasks.create({ agent: 'ticker', input: { count: 1 } }));
    await expect.poll(posts, { timeout: 10_000 }).toBeGreaterThan(before + 1);
    site.proxy.mode = 'pass';

    const { id } = await created;
    const log = await site.api.log(after);
    expect(log.filter(({ type }) => type === 'task.created').map(({ taskId }) => taskId)).toEqual([id]);
  });
});
