import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { openPageServer, type PageServer } from '../support/page-server.ts';
import { openConsole } from './console-page.ts';
import { openForeignPage } from './foreign-page.ts';
import { type GuardedSite, openGuardedSite } from './guarded-site.ts';
import { account, signInWith } from './sign-in-steps.ts';

const PER_MINUTE = 60;

describeInChromium('A page of an origin that is listed', (chromium) => {
  let elsewhere: PageServer;
  let site: GuardedSite;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    elsewhere = await openPageServer();
    const origin = `http://localhost:${elsewhere.port}`;
    site = await openGuardedSite(['--allow-origin', origin, '--rate-limit', `${PER_MINUTE}`]);
    context = await chromium.newContext({}, () => {});
    page = await openForeignPage(context, origin);
  });
  afterAll(async () => {
    await context.close();
    await elsewhere.close();
    await site.close();
  });

  /** What the page learns of an answer. */
  function ask(path: string, token: string | null, init: RequestInit = {}) {
    return page.evaluate(
      async ([url, bearer, more]) => {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `${Math.random()}` };
        const shown = bearer === null ? headers : { ...headers, Authorization: `Bearer ${bearer}` };
        const response = await fetch(url, { ...more, headers: shown });
        const { code = null } = await response.json();
        const header = (name: string) => response.headers.get(name);
        return { status: response.status, code, cursor: header('Holdfast-Cursor'), retryAfter: header('Retry-After') };
      },
      [`${site.proxy.url}${path}`, token, init] as const,
    );
  }

  // Would fail with headers that stand on good answers alone, or are not exposed.
  test('reads answers and refusals, with their headers', async () => {
    const { token } = await site.newToken('ada');
    const { id } = await site.api.run('ticker', { count: 1 });

    const list = await ask('/v1/tasks', token);
    expect([list.status, list.cursor]).toEqual([200, await site.head()]);
    const body = JSON.stringify({ agent: 'ticker', input: { count: 1 } });
    expect(await ask('/v1/tasks', token, { method: 'POST', body })).toMatchObject({ status: 202 });
    expect(await ask('/v1/tasks', null)).toMatchObject({ status: 401, code: 'unauthorized' });
    const nowhere = await ask('/v1/tasks/task_00000000000000000000000000', token);
    expect(nowhere).toMatchObject({ status: 404, code: 'not_found' });
    const late = await ask(`/v1/tasks/${id}/cancel`, token, { method: 'POST' });
    expect(late).toMatchObject({ status: 409, code: 'task_finished' });
  });

  test('is told how long to stay away', async () => {
    const { token } = await site.newToken('spender');
    const statuses = await page.evaluate(
      async ([url, bearer, count]) => {
        const get = () => fetch(url, { headers: { Authorization: `Bearer ${bearer}` } });
        return (await Promise.all(Array.from({ length: count }, get))).map(({ status }) => status);
      },
      [`${site.proxy.url}/v1/tasks`, token, PER_MINUTE] as const,
    );
    expect(new Set(statuses)).toEqual(new Set([200]));

    const refused = await ask('/v1/tasks', token);

    expect(refused).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  });

  // Would fail if a reconnection, with its `Last-Event-ID`, were refused.
  test('follows events by a ticket, through a connection that was cut', async () => {
    const { token } = await site.newToken('ada');
    await page.evaluate(
      async ([server, bearer, after]) => {
        const headers = { Authorization: `Bearer ${bearer}` };
        const { ticket } = await (await fetch(`${server}/v1/tickets`, { method: 'POST', headers })).json();
        window.seqs = [];
        const source = new EventSource(`${server}/v1/events?after=${after}&ticket=${ticket}`);
        source.onmessage = ({ data }) => window.seqs.push(JSON.parse(data).seq);
        await new Promise((resolve) => source.addEventListener('caught-up', resolve, { once: true }));
      },
      [site.proxy.url, token, await site.head()] as const,
    );

    site.proxy.cut();
    const { id } = await site.api.run('ticker', { count: 1 });
    const events = await site.api.eventsOf(id);

    await page.waitForFunction((seq) => window.seqs.at(-1) === seq, events.at(-1)?.seq);
    expect(await page.evaluate(() => window.seqs)).toEqual(events.map(({ seq }) => seq));
  });

  // Would fail if a listed origin could act as whoever is signed in to the console.
  test('has no use of the cookie of the console', async () => {
    const console_ = await openConsole(context, site.proxy.url.replace('127.0.0.1', 'localhost'), '#/inbox');
    await signInWith(console_, (await site.newToken('ada')).token);
    await account(console_).waitFor();
    await console_.close();
    const before = await site.head();

    const outcomes = await page.evaluate(
      async (server) => {
        const post = (credentials: RequestCredentials) =>
          fetch(`${server}/v1/conversations`, { method: 'POST', credentials }).then(({ status }) => status);
        return [await post('include').catch(() => 'unreadable'), await post('omit')];
      },
      site.proxy.url.replace('127.0.0.1', 'localhost'),
    );

    expect(outcomes).toEqual(['unreadable', 401]);
    expect(site.proxy.answers.filter((answer) => /^POST .*conversations/.test(answer))).toEqual([
      'POST /v1/conversations 401',
      'POST /v1/conversations 401',
    ]);
    expect(await site.head()).toBe(before);
  });
});
