import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { messages, openConsole, untilShows } from './console-page.ts';
import { openSite, type Site } from './site.ts';

const LONGEST_TASK_MS = 200;
const MESSAGES = 2000;
const TURNS = 20;
const CHILDREN = 20;
/** Of each, beside its own three: the parent's tell how often it has waited for one of them. */
const EVENTS = 2500;

/** What keeps a page busy for longer than this is felt as a stutter. */
describeInChromium('The console never keeps the page busy for more than 200 ms', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  async function openObserved(hash: string): Promise<Page> {
    const context = await chromium.newContext();
    await context.addInitScript(() => {
      const longTasks: number[] = [];
      Object.assign(window, { longTasks });
      new PerformanceObserver((list) => {
        longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)));
      }).observe({ type: 'longtask', buffered: true });
    });
    return openConsole(context, site.proxy.url, hash);
  }

  // Would fail if every delta rendered every message, or took the whole text apart again.
  test(`while an answer is streamed below ${MESSAGES} messages`, async () => {
    const id = await site.newConversation();
    for (let turn = 0; turn < TURNS; turn++) {
      const { task } = await site.write(id, 'chatter', `${MESSAGES / TURNS}`);
      await site.api.ended(task.id);
    }
    const page = await openObserved(`#/conversations/${id}`);
    await untilShows(messages(page), `Line ${MESSAGES / TURNS - 1} of`);
    const older = page.getByRole('button', { name: /older messages/ });
    while ((await older.count()) > 0) {
      await messages(page).evaluate((element) => {
        element.scrollTop = 0;
      });
      // By scrolling there it has begun by itself, and may be over before it is pressed.
      await older.click({ timeout: 500 }).catch(() => {});
    }
    await forgetTasks(page);

    await site.write(id, 'speaker', '600 5');
    await untilShows(messages(page), 'word-599', 30_000);

    expect(await messages(page).getByRole('article').count()).toBe(MESSAGES + TURNS + 2);
    expect(await tasksAbove(page)).toEqual([]);
  }, 120_000);

  // Would fail if all events were drawn, or each by itself.
  test(`while the ${CHILDREN * EVENTS} events of a task and its children come in`, async () => {
    const input = { children: CHILDREN, count: EVENTS };
    const { id } = await site.api.createTask({ agent: 'tickers', input });
    const page = await openObserved(`#/tasks/${id}`);
    const heading = page.getByRole('region', { name: 'Events', exact: true }).getByRole('heading');
    await forgetTasks(page);

    await untilShows(heading, /50(0[6-9]|10)\d/, 60_000);

    expect(await tasksAbove(page)).toEqual([]);
  }, 120_000);
});

interface Observed {
  longTasks: number[];
}

/** What it took to load is another matter. */
async function forgetTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    (window as unknown as Observed).longTasks.length = 0;
  });
}

function tasksAbove(page: Page): Promise<number[]> {
  return page.evaluate(
    (ms) => (window as unknown as Observed).longTasks.filter((duration) => duration > ms),
    LONGEST_TASK_MS,
  );
}
