import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { composer, messages, openConsole, panel, untilShows } from './console-page.ts';
import { type GuardedSite, openGuardedSite } from './guarded-site.ts';
import { signInWith, tokenField } from './sign-in-steps.ts';
import { openSite, type Site } from './site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DEVICES: [name: string, BrowserContextOptions][] = [
  ['light desktop', { ...DESKTOP, colorScheme: 'light' }],
  ['dark desktop', { ...DESKTOP, colorScheme: 'dark' }],
  ['light phone', { ...PHONE, colorScheme: 'light' }],
  ['dark phone', { ...PHONE, colorScheme: 'dark' }],
];

describeInChromium('The console, looked at by axe,', (chromium) => {
  let site: Site;
  let guarded: GuardedSite;
  let screens: { name: string; hash: string; ready(page: Page): Promise<void> }[];

  beforeAll(async () => {
    [site, guarded] = await Promise.all([openSite(), openGuardedSite()]);
    const talk = await site.newConversation();
    await site.write(talk, 'speaker', '40 0');
    await site.write(talk, 'formatter', 'please');
    const asking = await site.newConversation();
    const { task } = await site.write(asking, 'asker', 'form');
    await site.api.settled(task.id);
    const expired = await site.newConversation();
    const late = await site.write(expired, 'asker', 'choice 1');
    await site.api.ended(late.task.id);
    const failed = await site.api.run('saboteur', { message: '0' });
    const { id: running } = await site.api.createTask({ agent: 'ticker', input: { count: 100_000, everyMs: 1000 } });
    const shows = (text: string) => (page: Page) => untilShows(page.getByRole('main'), text);
    screens = [
      { name: 'the beginning', hash: '#/conversations/new', ready: (page) => composer(page).waitFor() },
      {
        name: 'the conversations',
        hash: '#/conversations',
        ready: (page) => page.getByRole('navigation', { name: 'Conversations' }).getByRole('link').nth(3).waitFor(),
      },
      {
        name: 'a conversation',
        hash: `#/conversations/${talk}`,
        ready: (page) => untilShows(messages(page), 'A heading'),
      },
      { name: 'a question', hash: `#/conversations/${asking}`, ready: (page) => panel(page).waitFor() },
      {
        name: 'a question that expired',
        hash: `#/conversations/${expired}`,
        ready: (page) => messages(page).waitFor(),
      },
      { name: 'the inbox', hash: '#/inbox', ready: shows('Which city?') },
      { name: 'the tasks', hash: '#/tasks', ready: shows('saboteur') },
      { name: 'a new task', hash: '#/tasks/new?agent=ticker', ready: shows('Input, as JSON') },
      { name: 'a task that runs', hash: `#/tasks/${running}`, ready: shows('tick.told') },
      { name: 'a task that failed', hash: `#/tasks/${failed.id}`, ready: shows('agent_error') },
      { name: 'a task that waits', hash: `#/tasks/${task.id}`, ready: shows('question.asked') },
      { name: 'an address of nothing', hash: '#/nowhere', ready: shows('There is nothing at this address') },
    ];
  });
  afterAll(() => Promise.all([site.close(), guarded.close()]));

  // Would fail with a control without a name, text of too little contrast, or a list that is none.
  test.each(DEVICES)('has no serious fault on any screen of a %s', async (_name, device) => {
    const context = await chromium.newContext(device);
    const page = await openConsole(context, site.proxy.url, '#/inbox');
    await page.evaluate(AXE);

    const faults: string[] = [];
    for (const { name, hash, ready } of screens) {
      await page.goto(`${site.proxy.url}/${hash}`);
      await ready(page);
      for (const fault of await serious(page)) faults.push(`${name}: ${fault}`);
    }
    await page.goto(guarded.proxy.url);
    await signInWith(page, 'a-bad-one');
    await page.getByRole('alert').waitFor();
    await page.evaluate(AXE);
    for (const fault of await serious(page)) faults.push(`signing in: ${fault}`);
    await signInWith(page, (await guarded.newToken('ada', ['tasks:read'])).token);
    await page.getByRole('navigation', { name: 'Sections' }).waitFor();
    for (const fault of await serious(page)) faults.push(`signed in: ${fault}`);

    expect(faults).toEqual([]);
  });

  // Would fail with what can be reached only by scrolling sideways.
  test.each([320, 390])('needs no scrolling sideways on a screen of %i pixels', async (width) => {
    const page = await openConsole(
      await chromium.newContext({ ...PHONE, viewport: { width, height: 700 } }),
      site.proxy.url,
      '#/inbox',
    );

    const wide: string[] = [];
    for (const { name, hash, ready } of screens) {
      await page.goto(`${site.proxy.url}/${hash}`);
      await ready(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) wide.push(`${name}: ${over} px`);
    }
    await page.goto(guarded.proxy.url);
    await tokenField(page).waitFor();
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) wide.push(`signing in: ${over} px`);

    expect(wide).toEqual([]);
  });
});

async function serious(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(async () => {
    // What is faded in has little contrast on its way.
    const animations = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(animations.map(({ finished }) => finished));
    const { axe } = window as unknown as { axe: { run(): Promise<AxeResults> } };
    return axe.run();
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}
