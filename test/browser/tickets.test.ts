import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { describeInChromium } from '../support/chromium.ts';
import { type GuardedSite, openGuardedSite } from './guarded-site.ts';
import { expectToldExactly, openFollower, untilStatus, untilTold } from './probe-page.ts';
import { mendAfterwards } from './site.ts';

const TTL_MS = 1000;

interface Ticket {
  ticket: string;
  expiresAt: string;
}

describeInChromium('A ticket', (chromium) => {
  let site: GuardedSite;
  beforeAll(async () => {
    site = await openGuardedSite();
  });
  afterAll(() => site.close());

  async function newTicket(api: Api): Promise<Ticket> {
    return (await api.post<Ticket>('/v1/tickets', { ttlMs: TTL_MS })).body;
  }

  /** The network is away until tickets of now have long run out; meanwhile something happens. */
  async function beAwayFor({ expiresAt }: Ticket): Promise<void> {
    const { proxy, api } = site;
    proxy.mode = 'drop';
    proxy.cut();
    await api.run('ticker', { count: 20 });
    const until = Date.parse(expiresAt) + TTL_MS;
    await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(until);
    proxy.mode = 'pass';
  }

  async function statusWith({ ticket }: Ticket): Promise<number> {
    const anybody = createApi(site.api.url);
    return (await anybody.get(`/v1/events?after=0&ticket=${ticket}`, { Accept: 'application/json' })).status;
  }

  // Would fail if what a ticket has opened did not keep it good for coming back.
  test('outlives an absence that is longer than it lasts, for a plain EventSource', async () => {
    mendAfterwards(site);
    const after = await site.head();
    const page = await (await chromium.newContext()).newPage();
    await page.goto(`${site.proxy.url}/elsewhere`);
    const [unused, used] = [await newTicket(site.api), await newTicket(site.api)];
    await page.evaluate(async (address) => {
      window.seqs = [];
      const source = new EventSource(address);
      source.onmessage = ({ data }) => window.seqs.push(JSON.parse(data).seq);
      await new Promise((resolve) => source.addEventListener('caught-up', resolve, { once: true }));
    }, `/v1/events?after=${after}&ticket=${used.ticket}`);

    await beAwayFor(used);
    const { id } = await site.api.run('ticker', { count: 1 });
    const [last] = (await site.api.eventsOf(id)).slice(-1);
    await page.waitForFunction((seq) => window.seqs.at(-1) === seq, last?.seq);

    const log = await site.api.log(after);
    expect(await page.evaluate(() => window.seqs)).toEqual(log.map(({ seq }) => seq));
    expect(await statusWith(unused)).toBe(401);
  });

  // Would fail if the client gave up at the first 401, asked for a ticket too often, or told anything twice.
  test('is asked for again by the client when its token is revoked, and once only through an absence', async () => {
    mendAfterwards(site);
    const tokens = [await site.newToken('ada'), await site.newToken('ada')];
    const [first, second] = tokens;
    const context = await chromium.newContext();
    const given: Ticket[] = [];
    await giveTickets(context, given, () =>
      tokens[0] === undefined ? null : createApi(site.api.url, tokens[0].token),
    );
    const after = await site.head();
    const page = await openFollower(context, site.proxy.url, after, { ticketed: true });

    await beAwayFor(given[0] as Ticket);
    await untilTold(page, 'task.completed', (await site.api.run('ticker', { count: 1 })).id);
    expect(given).toHaveLength(1);

    tokens.shift();
    await site.revoke(first?.id ?? '');
    await expect.poll(() => given.length, { timeout: 10_000 }).toBe(2);
    await untilTold(page, 'task.completed', (await site.api.run('ticker', { count: 1 })).id);
    await expectToldExactly(page, await site.api.log(after));

    tokens.shift();
    await site.revoke(second?.id ?? '');
    await untilStatus(page, 'refused');
    expect(await page.evaluate(() => window.probe.ending)).toBe('unauthorized');
  });

  /** What a page's own server does; without a token it has only a ticket that has run out. */
  async function giveTickets(context: BrowserContext, given: Ticket[], api: () => Api | null): Promise<void> {
    await context.exposeFunction('newTicket', async () => {
      const holder = api();
      const ticket = holder === null ? (given[0] as Ticket) : await newTicket(holder);
      given.push(ticket);
      return ticket.ticket;
    });
  }
});

declare global {
  interface Window {
    seqs: number[];
  }
}
