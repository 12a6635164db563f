import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Connection, StreamItem } from '../../src/client/index.ts';
import type { LogEvent } from '../support/sse-reader.ts';
import type { ProbeSetup, Told } from './probe-script.ts';

/** Opens a page with the client in it, that does what the setup says from its load on. @see probe-script.ts */
export async function openProbe(context: BrowserContext, origin: string, setup: ProbeSetup): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/probe#${encodeURIComponent(JSON.stringify(setup))}`);
  return page;
}

/** Opens one that follows everything from a cursor on, and gives it once it is live. */
export async function openFollower(
  context: BrowserContext,
  origin: string,
  after: string,
  setup: Omit<ProbeSetup, 'events'> = {},
): Promise<Page> {
  const page = await openProbe(context, origin, { ...setup, events: { after } });
  await untilStatus(page, 'live');
  return page;
}

/** Settles when the page's connection has this status. */
export async function untilStatus(page: Page, status: Connection['status']): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { probe } = window;
    await probe.until(() => probe.client.connection.getSnapshot().status === wanted);
  }, status);
}

/** Settles when the page's connection has had this status, were it for a moment, since the page was loaded. */
export async function untilSaid(page: Page, status: Connection['status']): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { probe } = window;
    await probe.until(() => probe.connections.some((connection) => connection.status === wanted));
  }, status);
}

/** Settles when the page has been told of this, of that task when one is given; since its first load where it keeps. */
export async function untilTold(page: Page, type: string, taskId: string | null = null): Promise<void> {
  await page.evaluate(
    async ([wanted, of]) => {
      const { probe } = window;
      await probe.until(() =>
        probe.told.some(
          ({ item }) => item.type === wanted && (of === null || ('taskId' in item && item.taskId === of)),
        ),
      );
    },
    [type, taskId] as const,
  );
}

/** Settles when the page has been told of the event with this number, or a later one. */
export async function untilTick(page: Page, taskId: string, n: number): Promise<void> {
  await page.evaluate(
    async ([of, number]) => {
      const { probe } = window;
      await probe.until(() => {
        const item = probe.told.findLast((told) => told.item.type === 'tick.told')?.item as TickItem | undefined;
        return item !== undefined && item.taskId === of && item.data.n >= number;
      });
      interface TickItem {
        taskId: string;
        data: { n: number };
      }
    },
    [taskId, n] as const,
  );
}

export function toldOn(page: Page): Promise<Told[]> {
  return page.evaluate(() => window.probe.told);
}

export function connectionsOn(page: Page): Promise<Connection[]> {
  return page.evaluate(() => window.probe.connections);
}

/** Expects that the page was told exactly these events, each once and in order, and that nothing went wrong in it. */
export async function expectToldExactly(page: Page, log: readonly LogEvent[]): Promise<void> {
  const { told, errors, ending } = await page.evaluate(() => {
    const { probe } = window;
    return { told: probe.told.map(({ item }) => item), errors: probe.errors, ending: probe.ending };
  });
  expect(seqsOf(told)).toEqual(log.map(({ seq }) => seq));
  expect(told.filter(isEvent).map(withoutId)).toEqual(log.map(withoutId));
  expect(told.filter(({ type }) => type === 'reset')).toEqual([]);
  expect(errors).toEqual([]);
  expect([null, 'done']).toContain(ending);
}

/** An event's type has a dot in it; a signal's has none. */
function isEvent(item: StreamItem): boolean {
  return item.type.includes('.');
}

function seqsOf(items: readonly StreamItem[]): number[] {
  return items.flatMap((item) => ('seq' in item ? [item.seq] : []));
}

/** The id of a retelling is another one than that of a page. */
function withoutId(item: object): object {
  const { id, ...event } = item as { id?: string };
  return event;
}
