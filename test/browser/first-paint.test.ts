import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { messages, openChat, untilShows } from './console-page.ts';
import { openSite, type Site } from './site.ts';

const LOADS = 5;
const FIRST_PAINT_MS = 1000;

describeInChromium('The console', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  // Would fail with a script that is large or slow, or a page that shows nothing before it has asked the server.
  test('paints within a second of being asked for, with nothing in the cache', async () => {
    const id = await site.newConversation();
    await site.write(id, 'speaker', '20 0');

    const paints: number[] = [];
    for (let load = 0; load < LOADS; load++) {
      const page = await openChat(await chromium.newContext(), site.proxy.url, id);
      await untilShows(messages(page), 'word-19');
      expect(await page.getByText(/Sign (in|out)/).count(), 'nobody has to sign in').toBe(0);
      const entries = await page.evaluate(() =>
        performance.getEntriesByType('paint').map(({ name, startTime }) => ({ name, startTime })),
      );
      paints.push(entries.find(({ name }) => name === 'first-contentful-paint')?.startTime ?? Number.POSITIVE_INFINITY);
      await page.close();
    }

    const median = paints.sort((a, b) => a - b)[Math.floor(LOADS / 2)];
    expect(median, `of ${paints.map(Math.round)}`).toBeLessThan(FIRST_PAINT_MS);
  });
});
