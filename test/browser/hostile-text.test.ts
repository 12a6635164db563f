import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { messages, openChat, openConsole, panel, untilShows } from './console-page.ts';
import { HOSTILE_TEXTS, markOf } from './hostile-texts.ts';
import { openSite, type Site } from './site.ts';

const SAID_AT_ONCE = 40;
const WRITTEN_AT_ONCE = 20;

describeInChromium('The console, shown 200 hostile texts,', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  /** A page that is watched for everything that a hostile text might bring about. */
  async function openWatched(hash: string): Promise<{ page: Page; harm: string[] }> {
    const context = await chromium.newContext();
    const harm: string[] = [];
    await context.addInitScript(() => {
      Object.assign(window, { violations: [] });
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        (window as unknown as Watched).violations.push(`${violatedDirective} ${blockedURI}`);
      });
    });
    context.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== site.proxy.url) harm.push(`A request to ${request.url()}`);
    });
    context.on('page', (opened) => {
      if (context.pages().length > 1) harm.push(`A page at ${opened.url()}`);
    });
    const page = await openConsole(context, site.proxy.url, hash);
    page.on('dialog', (dialog) => {
      harm.push(`A dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('frameattached', (frame) => harm.push(`A frame at ${frame.url()}`));
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(`${site.proxy.url}/`)) harm.push(`It went to ${frame.url()}`);
    });
    return { page, harm };
  }

  function expectShown(text: string, from: number, to: number): void {
    const marks = Array.from({ length: to - from }, (_, n) => markOf(from + n));
    expect(marks.filter((mark) => !text.includes(mark))).toEqual([]);
  }

  // Would fail with any text that is taken for markup, a link that is not looked at, or an image that is loaded.
  test('shows those that an agent says, calls tools with and asks about, and does nothing that they say', async () => {
    const { page, harm } = await openWatched('#/inbox');
    for (let from = 0; from < HOSTILE_TEXTS.length; from += SAID_AT_ONCE) {
      const id = await site.newConversation();
      const title = { title: HOSTILE_TEXTS[from]?.slice(0, 255) };
      await site.api.send(`/v1/conversations/${id}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(title),
      });
      await page.goto(`${site.proxy.url}/#/conversations/${id}`);
      const to = from + SAID_AT_ONCE;
      const { task } = await site.write(id, 'villain', `${from} ${to}`);
      // They come live first, piece by piece, then out of what is stored.
      await panel(page).waitFor({ timeout: 30_000 });
      expectShown((await messages(page).textContent()) ?? '', from, to);
      await expectNoHarm(page, harm);
      for (const summary of await messages(page).locator('summary').all()) await summary.click();
      await expectNoHarm(page, harm);

      await page.reload();
      await panel(page).waitFor();
      expectShown((await messages(page).textContent()) ?? '', from, to);
      await expectNoHarm(page, harm);

      await page.goto(`${site.proxy.url}/#/tasks/${task.id}`);
      await untilShows(page.getByRole('main'), 'question.asked');
      await expectNoHarm(page, harm);
    }
    await page.goto(`${site.proxy.url}/#/inbox`);
    await untilShows(page.getByRole('main'), markOf(HOSTILE_TEXTS.length - SAID_AT_ONCE));
    await expectNoHarm(page, harm);
    await page.goto(`${site.proxy.url}/#/tasks`);
    await untilShows(page.getByRole('main'), 'villain');
    await expectNoHarm(page, harm);
  }, 180_000);

  // The same for what people write, which is shown in another way.
  test('shows those that people write, and does nothing that they say', async () => {
    const { page, harm } = await openWatched('#/inbox');
    for (let from = 0; from < HOSTILE_TEXTS.length; from += WRITTEN_AT_ONCE) {
      const id = await site.newConversation();
      const texts = HOSTILE_TEXTS.slice(from, from + WRITTEN_AT_ONCE);
      for (const text of texts) await site.write(id, 'mute', text, 'enqueue');
      await page.goto(`${site.proxy.url}/#/conversations/${id}`);
      await untilShows(messages(page), markOf(from + WRITTEN_AT_ONCE - 1));

      const shown = await messages(page).getByRole('article', { name: 'You' }).getByRole('paragraph').allTextContents();
      expect(shown).toEqual(texts);
      await expectNoHarm(page, harm);
    }
  }, 120_000);

  test('shows those that a task fails with, was given, and was declined with', async () => {
    const { page, harm } = await openWatched('#/inbox');
    for (let n = 0; n < HOSTILE_TEXTS.length; n += 25) {
      const id = await site.newConversation();
      const { task } = await site.write(id, 'saboteur', `${n}`);
      await site.api.ended(task.id);
      const asking = await site.write(id, 'asker', 'text');
      await site.api.settled(asking.task.id);
      const question = await site.api.pendingQuestion(asking.task.id);
      await page.goto(`${site.proxy.url}/#/conversations/${id}`);
      await panel(page).waitFor();
      await site.api.post(`/v1/questions/${question.id}/decline`, { reason: HOSTILE_TEXTS[n]?.slice(0, 1000) });
      await untilShows(messages(page), 'Declined by local');
      await expectNoHarm(page, harm);

      await page.goto(`${site.proxy.url}/#/tasks/${task.id}`);
      await untilShows(page.getByRole('main'), 'agent_error');
      await expectNoHarm(page, harm);
    }
  }, 120_000);

  // Would fail if a line that cannot be broken, or words that run from right to left, took the page with them.
  test('does not grow wider than the screen', async () => {
    const id = await site.newConversation();
    const number = HOSTILE_TEXTS.findIndex((text) => text.includes('W'.repeat(5000)));
    await site.write(id, 'villain', `${number} ${number + 1}`);
    const page = await openChat(
      await chromium.newContext({ viewport: { width: 390, height: 844 } }),
      site.proxy.url,
      id,
    );
    await panel(page).waitFor();

    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

    expect(over).toBeLessThanOrEqual(0);
  });
});

interface Watched {
  violations: string[];
  pwned?: unknown;
}

async function expectNoHarm(page: Page, harm: readonly string[]): Promise<void> {
  const found = await page.evaluate(() => {
    const { violations, pwned } = window as unknown as Watched;
    const elements = [...document.querySelectorAll('main *')];
    const handlers = elements.filter(({ attributes }) => [...attributes].some(({ name }) => name.startsWith('on')));
    const loading = document.querySelectorAll(
      'main :is(img, iframe, object, embed, script, style, link, video, audio)',
    );
    const links = [...document.querySelectorAll<HTMLAnchorElement>('main a[href]')];
    return {
      violations,
      pwned,
      handlers: handlers.map(({ outerHTML }) => outerHTML),
      loading: [...loading].map(({ outerHTML }) => outerHTML),
      links: links.filter(({ protocol }) => !/^(https?|mailto):$/.test(protocol)).map(({ href }) => href),
      openers: links
        .filter(({ origin, rel }) => origin !== location.origin && !rel.includes('noopener'))
        .map(({ href }) => href),
    };
  });
  expect({ ...found, harm }).toEqual({
    violations: [],
    pwned: undefined,
    handlers: [],
    loading: [],
    links: [],
    openers: [],
    harm: [],
  });
}
