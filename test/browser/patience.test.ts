import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { seqOf } from '../support/api.ts';
import { describeInChromium } from '../support/chromium.ts';
import type { FlakyProxy } from '../support/flaky-proxy.ts';
import { readLog } from '../support/log-pages.ts';
import { connectionsOn, expectToldExactly, openProbe, untilSaid, untilStatus, untilTold } from './probe-page.ts';
import { openPathTo, openSite, type Site } from './site.ts';

/** How long the network is away: `HOLDFAST_OFFLINE_MS=30000` for as long as a tunnel. */
const OFFLINE_MS = Number(process.env.HOLDFAST_OFFLINE_MS ?? 5000);

/** What a person waits in, with a way to the server of its own: these tests wait together. */
interface Setting {
  path: FlakyProxy;
  conversation: string;
  /** Where the page begins to follow the conversation. */
  after: string;
  newContext(): Promise<BrowserContext>;
}

describeInChromium('The client, in a page, waits as long as it must, and', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  async function begin({ onTestFinished }: TestContext): Promise<Setting> {
    const path = await openPathTo(site);
    onTestFinished(() => path.close());
    return {
      path,
      conversation: await site.newConversation(),
      after: await site.head(),
      newContext: () => chromium.newContext({}, onTestFinished),
    };
  }

  async function follow({ path, conversation, after }: Setting, context: BrowserContext, share = true): Promise<Page> {
    return openProbe(context, path.url, { share, events: { conversationId: conversation, after } });
  }

  /** Something that happens in the conversation, for so long. */
  async function tick({ conversation }: Setting, count: number, everyMs: number): Promise<string> {
    const input = { count, everyMs };
    return (await site.api.createTask({ agent: 'ticker', input, conversationId: conversation })).id;
  }

  /** No network: what is asked for fails at once, and what was open gets nothing any more. */
  async function enterTunnel({ path }: Setting, context: BrowserContext): Promise<void> {
    path.forget();
    await context.setOffline(true);
  }

  async function expectWhole({ conversation, after }: Setting, pages: readonly Page[], taskId: string): Promise<void> {
    await Promise.all(pages.map((page) => untilTold(page, 'task.completed', taskId)));
    const log = await readLog(site.api, `/v1/conversations/${conversation}/events`);
    for (const page of pages) {
      await expectToldExactly(
        page,
        log.filter(({ seq }) => seq > seqOf(after)),
      );
    }
  }

  // Would fail without the watch for a silence that is longer than two keepalives: nothing else tells of such a loss.
  test.concurrent('notices a connection that is half open, and goes on over a new one', async (context) => {
    const setting = await begin(context);
    const pages = [
      await follow(setting, await setting.newContext()),
      await follow(setting, await setting.newContext(), false),
    ];
    await Promise.all(pages.map((page) => untilStatus(page, 'live')));

    setting.path.forget();
    const task = await tick(setting, 5, 20);
    await expectWhole(setting, pages, task);

    for (const page of pages) {
      await untilStatus(page, 'live');
      expect((await connectionsOn(page)).map(({ status }) => status)).toContain('reconnecting');
    }
  });

  // Would fail without long polling: such a proxy shows nothing of a stream before its end.
  test.concurrent('falls back to long polling where streams are held back, and is live there', async (context) => {
    const setting = await begin(context);
    const pages: Page[] = [];
    for (const holds of ['body', 'all'] as const) {
      setting.path.holdsStreams = holds;
      pages.push(await follow(setting, await setting.newContext()));
      await context.expect.poll(() => setting.path.openStreams).toBe(pages.length);
    }
    await Promise.all(pages.map((page) => untilStatus(page, 'live')));

    const task = await tick(setting, 100, 20);
    await Promise.all(pages.map((page) => untilTold(page, 'task.started', task)));
    const { status } = await site.api.task(task);

    expect(status).toBe('running');
    await expectWhole(setting, pages, task);
    for (const page of pages) expect((await connectionsOn(page)).at(-1)?.transport).toBe('polling');
  });

  // Would fail without the sending again of what could not be sent, or without the catching up.
  test.concurrent('[Q9] has missed nothing after a time without network, and its answer has arrived once', async (context) => {
    const setting = await begin(context);
    const { task } = await site.write(setting.conversation, 'asker', 'text');
    await site.api.settled(task.id);
    const { id } = await site.api.pendingQuestion(task.id);
    const browser = await setting.newContext();
    const page = await follow(setting, browser);
    await untilStatus(page, 'live');

    await enterTunnel(setting, browser);
    await page.evaluate((question) => {
      const answered = window.probe.client.questions.answer(question, { word: 'tunnel' });
      Object.assign(window, { answered });
    }, id);
    await site.api.ended(await tick(setting, OFFLINE_MS / 100, 100));
    const whileOffline = await site.api.question(id);
    await browser.setOffline(false);
    const answered = await page.evaluate(() => (window as unknown as { answered: Promise<unknown> }).answered);

    expect(whileOffline.status).toBe('pending');
    expect(answered).toMatchObject({ status: 'answered', answers: { word: 'tunnel' } });
    await expectWhole(setting, [page], task.id);
    const events = await site.api.eventsOf(task.id);
    expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
  });

  // Would fail if a connection that is dead, or the wait for the next attempt, outlived the news that there is a network.
  test.concurrent('is live again within two seconds of the network', async (context) => {
    const setting = await begin(context);
    const browser = await setting.newContext();
    const page = await follow(setting, browser);
    await untilStatus(page, 'live');
    await enterTunnel(setting, browser);
    const missed = await tick(setting, OFFLINE_MS / 100, 100);
    await site.api.ended(missed);

    await browser.setOffline(false);
    await untilTold(page, 'task.completed', missed);

    const { onlineAt, toldAt } = await page.evaluate(() => {
      const { onlineAt, told } = window.probe;
      return { onlineAt, toldAt: told.at(-1)?.at ?? 0 };
    });
    expect(onlineAt).toBeGreaterThan(0);
    expect(toldAt - onlineAt).toBeLessThan(2000);
  });

  // Would fail if only a request that fails told of it: a page in a tunnel would be called live for another half a minute.
  test.concurrent('says that it is offline as soon as the device does', async (context) => {
    const setting = await begin(context);
    const browser = await setting.newContext();
    const page = await follow(setting, browser);
    await untilStatus(page, 'live');

    await enterTunnel(setting, browser);
    // Not whether it says so now: what was on its way may still arrive, and then there is a network nevertheless.
    await untilSaid(page, 'offline');
    await browser.setOffline(false);
    await untilStatus(page, 'live');

    const { offlineAt, saidAt } = await page.evaluate(() => {
      const { offlineAt, connections } = window.probe;
      return { offlineAt, saidAt: connections.find(({ status }) => status === 'offline')?.since ?? 0 };
    });
    expect(offlineAt).toBeGreaterThan(0);
    expect(saidAt - offlineAt).toBeLessThan(2000);
  });
});
