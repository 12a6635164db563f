import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { openPageServer, type PageServer } from '../support/page-server.ts';
import { openConsole } from './console-page.ts';
import { ATTACKS, openForeignPage } from './foreign-page.ts';
import { openGuardedSite } from './guarded-site.ts';
import { account, signInWith } from './sign-in-steps.ts';
import { openSite, type Site } from './site.ts';

/** Any name is that of this machine, as an attacker's can be made to be. */
const EVERY_NAME = '--host-resolver-rules=MAP *.test 127.0.0.1';
const FOE = 'evil.test';

describeInChromium(
  'A page of another origin',
  (chromium) => {
    describe.each(['without authentication', 'while somebody is signed in'])('%s', (how) => {
      const isGuarded = how === 'while somebody is signed in';
      let site: Site;
      let elsewhere: PageServer;
      let context: BrowserContext;
      beforeAll(async () => {
        elsewhere = await openPageServer();
        const open = isGuarded ? await openGuardedSite() : null;
        site = open ?? (await openSite());
        context = await chromium.newContext({}, () => {});
        const page = await openConsole(context, site.proxy.url, '#/inbox');
        if (open === null) return;
        await signInWith(page, (await open.newToken('ada')).token);
        await account(page).waitFor();
      });
      afterAll(async () => {
        await context.close();
        await elsewhere.close();
        await site.close();
      });

      // Cookies go along with what another port asks, however strict they are: the two are of one site.
      describe.each(['of the same site', 'of another site'])('%s', (where) => {
        let page: Page;
        beforeAll(async () => {
          const host = where === 'of another site' ? FOE : '127.0.0.1';
          page = await openForeignPage(context, `http://${host}:${elsewhere.port}`);
        });

        test.each(ATTACKS)('is refused when it $name', async ({ run, type = '', answers }) => {
          const before = await site.head();
          site.proxy.answers.length = 0;

          const read = await page.evaluate(run, { server: site.proxy.url, type });

          await expect.poll(() => attackedBy(site), { timeout: 5000 }).toEqual(answers);
          expect(read).toBeNull();
          expect(await site.head()).toBe(before);
        });
      });

      // Its own name points here: to its browser it is of the server's own origin, and may read everything.
      test('is refused under a name of its own that points to this server', async () => {
        const page = await context.newPage();
        // What the proxy serves by itself is what the name pointed to first.
        await page.goto(`http://${FOE}:${new URL(site.proxy.url).port}/elsewhere`);
        const before = await site.head();

        const statuses = await page.evaluate(async () => {
          const answers = [
            await fetch('/v1/tasks'),
            await fetch('/v1/conversations', { method: 'POST' }),
            await fetch('/'),
            await fetch('/metrics'),
          ];
          return answers.map(({ status }) => status);
        });
        const stream = page.waitForResponse(/events/);
        const isOpen = await page.evaluate(
          () =>
            new Promise<boolean>((resolve) => {
              const source = new EventSource('/v1/events');
              source.onopen = () => resolve(true);
              source.onerror = () => resolve(false);
            }),
        );

        // With authentication any name may be the server's: nothing that is known of the reader goes to this one.
        expect(statuses).toEqual(isGuarded ? [401, 401, 200, 401] : [403, 403, 403, 403]);
        expect([isOpen, (await stream).status()]).toEqual([false, isGuarded ? 401 : 403]);
        expect(await site.head()).toBe(before);
        await page.close();
      });

      test('cannot frame the console, and has no hold of one that it opens', async () => {
        const page = await openForeignPage(context, `http://127.0.0.1:${elsewhere.port}`);

        await page.evaluate(async (address) => {
          const frame = document.createElement('iframe');
          frame.src = address;
          const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
          document.body.appendChild(frame);
          await loaded;
        }, site.proxy.url);
        const opening = context.waitForEvent('page');
        await page.evaluate((address) => {
          window.opened = window.open(address);
        }, site.proxy.url);
        const popup = await opening;
        await popup.getByRole('navigation', { name: 'Sections' }).waitFor();

        expect(framesOf(page)).toEqual(['chrome-error://chromewebdata/']);
        expect(await popup.evaluate(() => window.opener)).toBeNull();
        expect(await page.evaluate(() => window.opened?.closed)).toBe(true);
        await popup.close();
        await page.close();
      });
    });
  },
  { args: [EVERY_NAME] },
);

/** How the server answered, but for what the open console has asked meanwhile. */
function attackedBy({ proxy }: Site): string[] {
  return proxy.answers.filter((answer) => answer.endsWith('403')).toSorted();
}

function framesOf(page: Page): string[] {
  return page
    .frames()
    .filter((frame) => frame !== page.mainFrame())
    .map((frame) => frame.url());
}

declare global {
  interface Window {
    opened: Window | null;
  }
}
