import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Opens the console at an address within it, such as `#/inbox`. */
export async function openConsole(context: BrowserContext, origin: string, hash: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/${hash}`);
  return page;
}

/** Opens a conversation in the console, and gives the page once it shows it. */
export async function openChat(context: BrowserContext, origin: string, conversationId: string): Promise<Page> {
  const page = await openConsole(context, origin, `#/conversations/${conversationId}`);
  await composer(page).waitFor();
  return page;
}

/** The form above the composer in which a pending question is answered. */
export function panel(page: Page): Locator {
  return page.getByRole('region', { name: 'Question', exact: true });
}

export function composer(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Message', exact: true });
}

export function messages(page: Page): Locator {
  return page.getByRole('region', { name: 'Messages', exact: true });
}

export function notices(page: Page): Locator {
  return page.getByRole('log', { name: 'Notices' });
}

export function connection(page: Page): Locator {
  return page.getByRole('status', { name: 'Connection' });
}

/** Waits for the text of what is found, however it is broken into elements. */
export async function untilShows(locator: Locator, text: string | RegExp, timeout = 10_000): Promise<void> {
  await locator.filter({ hasText: text }).first().waitFor({ timeout });
}

/** Presses Tab, as often as it takes, until what is focused has this role and name. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  expect(await page.evaluate(() => document.activeElement?.outerHTML), 'Tab leads there').toBe(`${target}`);
}

/** @returns when the question panel of the page has closed, epoch ms by its clock; to be asked for while it is open */
export function panelClosedAt(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () => {
          if (document.querySelector('section[aria-label="Question"]') !== null) return;
          observer.disconnect();
          resolve(performance.timeOrigin + performance.now());
        };
        const observer = new MutationObserver(look);
        observer.observe(document.body, { subtree: true, childList: true });
        look();
      }),
  );
}
