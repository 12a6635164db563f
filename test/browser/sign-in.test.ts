import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { describeInChromium } from '../support/chromium.ts';
import { composer, connection, messages, openConsole, panel, untilShows } from './console-page.ts';
import { type GuardedSite, openGuardedSite } from './guarded-site.ts';
import { account, signInWith, signOutButton, tokenField } from './sign-in-steps.ts';
import { mendAfterwards } from './site.ts';

const SIGNED_OUT_WITHIN_MS = 5000;
/** A name of the machine that a browser does not know to be its own. */
const PLAIN_NAME = 'holdfast.test';

describeInChromium(
  'The console of a server that asks who people are',
  (chromium) => {
    let site: GuardedSite;
    let origin: string;
    beforeAll(async () => {
      site = await openGuardedSite(['--allow-host', PLAIN_NAME]);
      origin = site.proxy.url;
    });
    afterAll(() => site.close());

    async function signedIn(context: BrowserContext, hash: string, token: string): Promise<Page> {
      const page = await openConsole(context, origin, hash);
      await signInWith(page, token);
      return page;
    }

    const conversations = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });

    async function conversationOf(owner: string, title: string): Promise<string> {
      const api = createApi(site.api.url, (await site.newToken(owner)).token);
      const { body } = await api.post<{ id: string }>('/v1/conversations', { title });
      return body.id;
    }

    // Would fail with a token in the address or in a storage, or a cookie that scripts read or that outlives signing out.
    test('lets people in by a token, through reloads, and out again', async () => {
      const { token } = await site.newToken('ada');
      const context = await chromium.newContext();
      const id = await site.newConversation();
      await site.write(id, 'speaker', '1 0');
      const page = await openConsole(context, origin, `#/conversations/${id}`);

      await signInWith(page, 'hf_token_that-nobody-made');
      await untilShows(page.getByRole('alert'), 'This token is not good, or not any more.');
      await signInWith(page, token);
      await composer(page).fill('20 0');
      await composer(page).press('Enter');
      await untilShows(messages(page), 'word-19');
      await page.reload();
      await untilShows(messages(page), 'word-19');

      const known = await page.evaluate(() => [
        ...[location.href, JSON.stringify(history.state), document.cookie, document.documentElement.outerHTML],
        ...[JSON.stringify(localStorage), JSON.stringify(sessionStorage)],
      ]);
      expect(known.filter((text) => /hf_|__Host/.test(text))).toEqual([]);
      expect(known[2]).toBe('');
      const [cookie] = await context.cookies(origin);
      expect(cookie).toMatchObject({ name: '__Host-holdfast', httpOnly: true, secure: true, sameSite: 'Strict' });

      await composer(page).fill('half a thought');
      await signOutButton(page).click();
      await tokenField(page).waitFor();
      expect(await context.cookies(origin)).toEqual([]);
      await page.reload();
      await tokenField(page).waitFor();
      expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain('half a thought');
      const again = { Cookie: `__Host-holdfast=${cookie?.value}` };
      expect((await createApi(site.api.url).get('/v1/session', again)).status).toBe(401);
      await page.reload();
      await tokenField(page).waitFor();
    });

    // Would fail if a 401 or a goodbye were only shown as a broken connection, or took what was typed with it.
    test('asks again within 5 s of a revocation, and goes on where it was', async () => {
      mendAfterwards(site);
      const id = await conversationOf('ada', 'A plan');
      const first = await site.newToken('ada');
      const page = await signedIn(await chromium.newContext(), `#/conversations/${id}`, first.token);
      await untilShows(connection(page), 'Live');
      site.proxy.mode = 'drop';
      await composer(page).fill('3 0');
      await composer(page).press('Enter');
      await untilShows(messages(page), '3 0');
      await composer(page).fill('not finished');

      await site.revoke(first.id);
      site.proxy.mode = 'pass';
      await tokenField(page).waitFor({ timeout: SIGNED_OUT_WITHIN_MS });
      expect(await page.getByText('A plan').count()).toBe(0);
      await signInWith(page, (await site.newToken('ada')).token);
      await composer(page).waitFor();

      expect(await composer(page).inputValue()).toBe('3 0\n\nnot finished');
      await untilShows(connection(page), 'Live');
      await site.write(id, 'speaker', '5 0');
      await untilShows(messages(page), 'word-4');
    });

    // Would fail with a connection that tabs share whoever is signed in, or a tab that learns of it by a reload alone. The
    // one that slept is told nothing, and what it asks goes out with the cookie of the owner after.
    test.each(['hears of it', 'sleeps meanwhile'])('shows a tab that %s nothing of another owner', async (what) => {
      const adas = `Of Ada, for one that ${what}`;
      const bobs = `Of Bob, for one that ${what}`;
      await conversationOf('ada', adas);
      await conversationOf('bob', bobs);
      const context = await chromium.newContext();
      const here = await signedIn(context, '#/conversations', (await site.newToken('ada')).token);
      await untilShows(conversations(here), adas);
      const there = await context.newPage();
      await there.addInitScript(recordMixed, { isAsleep: what === 'sleeps meanwhile', adas, bobs });
      await there.goto(`${origin}/#/conversations`);
      await untilShows(conversations(there), adas);
      await untilShows(connection(there), 'Live');
      const release = what === 'sleeps meanwhile' ? await holdRequests(there) : () => {};

      await signOutButton(here).click();
      await signInWith(here, (await site.newToken('bob')).token);
      await untilShows(account(here), 'bob');
      release();
      await untilShows(account(there), 'bob');

      await conversationOf('ada', `${adas}, later`);
      await conversationOf('bob', `${bobs}, later`);
      for (const page of [here, there]) {
        await untilShows(conversations(page), `${bobs}, later`);
        expect(await page.getByText(adas).count()).toBe(0);
      }
      expect(await there.evaluate(() => window.mixed)).toEqual([]);
    });

    // Would fail with buttons that only lead to a 403.
    test('shows no button for what a token does not allow, and says why', async () => {
      const id = await site.newConversation();
      const { task } = await site.write(id, 'asker', 'choice');
      await site.api.settled(task.id);

      const reader = await signedIn(
        await chromium.newContext(),
        `#/conversations/${id}`,
        (await site.newToken('ada', ['tasks:read'])).token,
      );
      await untilShows(panel(reader), 'Which month?');
      await untilShows(panel(reader), 'questions:answer');
      await untilShows(reader.locator('.read-only'), 'tasks:write');
      expect(await panel(reader).getByRole('radio').count()).toBe(0);
      expect(await composer(reader).count()).toBe(0);
      await reader.goto(`${origin}/#/tasks/${task.id}`);
      await untilShows(reader.getByRole('main'), 'question.asked');
      expect(await reader.getByRole('button', { name: /Cancel|Retry|Answer|Decline/ }).count()).toBe(0);

      const writer = await signedIn(
        await chromium.newContext(),
        `#/conversations/${id}`,
        (await site.newToken('ada', ['tasks:read', 'tasks:write'])).token,
      );
      await untilShows(panel(writer), 'questions:answer');
      await composer(writer).waitFor();

      const blind = await signedIn(
        await chromium.newContext(),
        '#/inbox',
        (await site.newToken('ada', ['tasks:write'])).token,
      );
      await untilShows(connection(blind), 'The server does not allow it. This takes the scope tasks:read.');
    });

    // Would fail if a cookie that the browser has thrown away were taken for a session.
    test('says why nobody can sign in over plain http from elsewhere', async () => {
      const { port } = new URL(site.api.url);
      const page = await openConsole(await chromium.newContext(), `http://${PLAIN_NAME}:${port}`, '#/inbox');

      await signInWith(page, (await site.newToken('ada')).token);

      await untilShows(page.getByRole('alert'), 'this browser has not kept the session');
    });
  },
  { args: [`--host-resolver-rules=MAP ${PLAIN_NAME} 127.0.0.1`] },
);

/** Holds back what a page asks of the server. @returns what lets it go on */
async function holdRequests(page: Page): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/**', async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Runs in the page, before all else. */
function recordMixed({ isAsleep, adas, bobs }: { isAsleep: boolean; adas: string; bobs: string }): void {
  if (isAsleep) window.addEventListener('storage', (event) => event.stopImmediatePropagation(), true);
  window.mixed = [];
  const look = () => {
    const text = document.body?.textContent ?? '';
    const whose = document.querySelector('.account bdi')?.textContent ?? null;
    const isMixed = (text.includes(adas) && whose !== 'ada') || (text.includes(bobs) && whose !== 'bob');
    if (isMixed) window.mixed.push(text);
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}

declare global {
  interface Window {
    /** What was shown under a name that it does not belong to. */
    mixed: string[];
  }
}
