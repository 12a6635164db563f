import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { createEventSource } from 'eventsource-client';
import { createParser } from 'eventsource-parser';
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test, vi } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts';
import { type PagedEvent, readLog } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** Of the four connections that a client needs; the last is left alone. */
const CUTS = [3000, 9000, 15_000];

/** An event as a client showed it. */
interface Shown {
  id: string;
  data: string;
}

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
  api = createApi(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

/** docs/protocol.md §5: written for clients that exist. Their waits before they come back are the server's `retry:`. */
describe('Unmodified, and cut three times in the middle of a block,', () => {
  let path: string;

  beforeAll(async () => {
    path = await newTask();
    // fetch-event-source takes browsers' names for the timers, and says goodbye to a document.
    vi.stubGlobal('window', { setTimeout, clearTimeout });
    vi.stubGlobal('document', { removeEventListener() {} });
  });
  afterAll(() => {
    vi.unstubAllGlobals();
  });

  test.concurrent('`eventsource` misses nothing, and stops when it closes itself at `end`', async (context) => {
    const proxy = await cuttingProxy(context);
    const shown: Shown[] = [];

    const source = new EventSource(`${proxy.url}${path}`);
    source.onmessage = ({ lastEventId: id, data }) => shown.push({ id, data });
    await once(source, 'end');
    source.close();

    await expectWholeLog(shown, proxy);
  });

  test.concurrent('`eventsource` that ignores `end` is stopped for good by the 204 of its next attempt', async (context) => {
    const proxy = await cuttingProxy(context);
    const shown: Shown[] = [];

    const source = new EventSource(`${proxy.url}${path}`);
    source.onmessage = ({ lastEventId: id, data }) => shown.push({ id, data });
    const stoppedBy = await new Promise((resolve) => {
      source.onerror = ({ code }) => code !== undefined && resolve(code);
    });

    expect(stoppedBy).toBe(204);
    expect(source.readyState).toBe(EventSource.CLOSED);
    await expectWholeLog(shown, proxy);
  });

  test.concurrent('`eventsource-client` misses nothing, and its iterator ends with the 204', async (context) => {
    const proxy = await cuttingProxy(context);
    const shown: Shown[] = [];
    const signals: (string | undefined)[] = [];

    for await (const { id = '', event, data } of createEventSource(`${proxy.url}${path}`)) {
      if (event === undefined) shown.push({ id, data });
      else signals.push(event);
    }

    await expectWholeLog(shown, proxy);
    expect(signals.at(-1)).toBe('end');
  });

  test.concurrent('`fetch-event-source` misses nothing, and is done when the server closes', async (context) => {
    const proxy = await cuttingProxy(context);
    const shown: Shown[] = [];
    const signals: string[] = [];

    await fetchEventSource(`${proxy.url}${path}`, {
      fetch,
      openWhenHidden: true,
      onmessage({ id, event, data }) {
        if (event === '') shown.push({ id, data });
        else signals.push(event);
      },
    });

    await expectWholeLog(shown, proxy);
    expect(signals.at(-1)).toBe('end');
  });

  test.concurrent('`curl` that is given the last id again each time misses nothing, and ends with 0', async (context) => {
    const proxy = await cuttingProxy(context);
    const shown: Shown[] = [];
    const codes: (number | null)[] = [];

    do codes.push(await curl(`${proxy.url}${path}`, shown).code);
    while (codes.at(-1) !== 0 && codes.length <= CUTS.length);

    expect(codes.slice(0, -1)).not.toContain(0);
    await expectWholeLog(shown, proxy);
  });

  async function cuttingProxy({ onTestFinished }: TestContext): Promise<CuttingProxy> {
    const proxy = await openCuttingProxy(server.url, CUTS);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  async function expectWholeLog(shown: readonly Shown[], { cuts }: CuttingProxy): Promise<void> {
    expect(cuts).toBe(CUTS.length);
    expectSame(shown, await readLog(api, path));
  }
});

describe('`curl`', () => {
  test('that is killed and resumed misses nothing', async () => {
    const path = await newTask();
    const shown: Shown[] = [];

    for (const enough of [20, 90, 170]) {
      const { kill, code } = curl(`${server.url}${path}`, shown, () => {
        if (shown.length >= enough) kill();
      });
      expect(await code).toBe(null);
    }

    expect(await curl(`${server.url}${path}`, shown).code).toBe(0);
    expectSame(shown, await readLog(api, path));
  });
});

/** docs/protocol.md §5.3: what nginx's defaults need. */
describe('A stream', () => {
  let path: string;

  beforeEach(async () => {
    const { id } = await api.run('closer', {});
    path = `/v1/tasks/${id}/events?after=latest`;
  });

  test('is sent as it is, and unbuffered, to a client that takes compressed answers', async () => {
    const { response } = await firstBytes(path);

    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(response.headers).not.toHaveProperty('content-encoding');
  });

  test('begins at once, before there is any event to tell', async () => {
    const { bytes } = await firstBytes(path);

    expect(bytes).toMatch(/^: ok\nretry: \d+\n/);
    expect(bytes).not.toContain('"seq"');
  });

  async function firstBytes(target: string) {
    const headers = { 'Accept-Encoding': 'gzip, br' };
    const request = http.get(`${server.url}${target}`, { agent: false, headers });
    const [response]: http.IncomingMessage[] = await once(request, 'response');
    if (response === undefined) throw new Error('There is no response.');
    const [bytes] = await once(response, 'data');
    request.destroy();
    return { response, bytes: String(bytes) };
  }
});

/** @returns the path of the stream of a task that runs for three seconds */
async function newTask(): Promise<string> {
  const { id } = await api.createTask({ agent: 'ticker', input: { count: 300, everyMs: 10 } });
  return `/v1/tasks/${id}/events`;
}

/**
 * Streams with `curl` after the last event of `shown`, to which it adds.
 *
 * @returns `code` is null when it was killed
 */
function curl(url: string, shown: Shown[], onEvent?: () => void): { kill(): void; code: Promise<number | null> } {
  const lastId = shown.at(-1)?.id;
  const child = spawn('curl', ['-sN', ...(lastId === undefined ? [] : ['-H', `Last-Event-ID: ${lastId}`]), url]);
  const parser = createParser({
    onEvent({ id = '', event, data }) {
      if (event === undefined) shown.push({ id, data });
      onEvent?.();
    },
  });
  child.stdout.setEncoding('utf8').on('data', (text) => parser.feed(text));
  return { kill: () => child.kill('SIGKILL'), code: once(child, 'close').then(([code]) => code) };
}

/** Every event once, in order, under its own id, and never an empty message. */
function expectSame(shown: readonly Shown[], log: readonly PagedEvent[]): void {
  expect(shown.filter(({ data }) => data === '')).toEqual([]);
  expect(shown.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
  expect(shown.map(({ id, data }) => ({ id, ...JSON.parse(data) }))).toEqual(log);
}
