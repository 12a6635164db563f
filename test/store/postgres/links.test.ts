import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import { ConnectionLost } from '../../../src/store/postgres/failure.ts';
import type { Link } from '../../../src/store/postgres/link.ts';
import { createLinks, type Links } from '../../../src/store/postgres/links.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { createTestDatabase, findPostgres, runSql, type TestDatabase } from '../../support/postgres-server.ts';
import { openTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const PID = statement<{ pid: number }>('select pg_backend_pid() as pid');
const SLEEP = statement('select pg_sleep($1)');
const ECHO = statement<{ n: number }>('select $1::bigint as n');
const server = await findPostgres();

describe.skipIf(server === null)('Connections', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let open: () => Promise<Link>;
  let links: Links;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database?.drop());
  beforeEach(async () => {
    proxy = await openTcpProxy([Number(new URL(database.url).port || 5432)]);
    open = await opening([proxy.port]);
    links = createLinks(open, 2);
  });
  afterEach(async () => {
    await links.end();
    await proxy.close();
  });

  describe('one of them', () => {
    test('answers in the order in which it is asked, and all at once', async () => {
      const numbers = Array.from({ length: 50 }, (_, n) => n);

      const answers = await links.use((link) => Promise.all(numbers.map((n) => link.ask(ECHO, n))));

      expect(answers.map(([row]) => row?.n)).toEqual(numbers);
    });

    test('fails all that was asked of it when it is cut, and whatever is asked later', async () => {
      const link = await open();
      const asked = Promise.allSettled([link.ask(SLEEP, 5), link.ask(PID)]);
      proxy.cut();

      for (const each of await asked)
        expect(each).toMatchObject({ status: 'rejected', reason: expect.any(ConnectionLost) });
      await link.lost;
      expect(link.isOpen).toBe(false);
      await expect(link.ask(PID)).rejects.toThrow(ConnectionLost);
      await expect(link.begin()).rejects.toThrow(ConnectionLost);
    });

    test('is lost when no answer comes though nobody closes it', async () => {
      const link = await open();
      proxy.forget();
      const before = performance.now();

      await expect(link.ask(PID)).rejects.toThrow('does not answer');

      expect(performance.now() - before).toBeLessThan(6_000);
      expect(link.isOpen).toBe(false);
    });

    test('takes no statement longer than it may', async () => {
      const link = await open();

      await expect(link.ask(SLEEP, 30)).rejects.toMatchObject({ code: '57014' });

      expect((await link.ask(PID)).command).toBe('SELECT');
      link.close();
    });

    test('has numbers, texts and lists for parameters, whatever stands in them', async () => {
      const LISTS = statement<{ n: number; texts: string; sum: number }>(
        `select $1::bigint as n, array_to_json($2::text[])::text as texts, (select sum(x) from unnest($3::bigint[]) as x)::bigint as sum`,
      );
      const texts = ['a"b\\c', '{,}', '', 'null', 'NULL', null, " '"];

      const [row] = await links.use((link) => link.ask(LISTS, 2 ** 53 - 1, texts, [1, null, 2 ** 40]));

      expect(row).toMatchObject({ n: 2 ** 53 - 1, sum: 2 ** 40 + 1 });
      expect(JSON.parse(row?.texts ?? '')).toEqual(texts);
    });

    test('goes to the first of several hosts that can be reached, and later ones there at once', async () => {
      const over = await opening([1, proxy.port]);
      const [first, second] = [await over(), await over()];

      expect((await first.ask(PID)).length + (await second.ask(PID)).length).toBe(2);
      first.close();
      second.close();
    });
  });

  describe('several', () => {
    test('are no more than there may be, are used again, and are given in the order of the asking', async () => {
      const order: number[] = [];

      const pids = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          links.use(async (link) => {
            order.push(n);
            const [row] = await link.ask(PID);
            return row?.pid;
          }),
        ),
      );

      expect(new Set(pids).size).toBe(2);
      const waited = order.filter((n) => n > 1);
      expect(waited).toEqual(waited.toSorted((a, b) => a - b));
    });

    test('are not given again when something has failed, or when they are gone', async () => {
      const first = await links.use(async (link) => (await link.ask(PID))[0]?.pid);
      await expect(links.use((link) => link.ask(statement('select 1 / 0')))).rejects.toMatchObject({ code: '22012' });
      const second = await links.use(async (link) => (await link.ask(PID))[0]?.pid);
      await runSql(database.url, `select pg_terminate_backend(${second})`);
      await links.use((link) => link.ask(PID)).catch(() => {});
      const third = await links.use(async (link) => (await link.ask(PID))[0]?.pid);

      expect(new Set([first, second, third]).size).toBe(3);
    });

    test('that cannot be opened leave room for the next', async () => {
      proxy.targets = [1];
      const failed = await Promise.allSettled(Array.from({ length: 6 }, () => links.use((link) => link.ask(PID))));
      expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
      proxy.targets = [Number(new URL(database.url).port || 5432)];

      expect(await links.use((link) => link.ask(PID))).toHaveLength(1);
    });

    test('are let go of when what is under way is done', async () => {
      const under = Promise.all([1, 2, 3].map(() => links.use((link) => link.ask(SLEEP, 0.05))));
      const [done] = await Promise.all([under, links.end()]);

      expect(done).toHaveLength(3);
      await expect(links.use((link) => link.ask(PID))).rejects.toThrow('closed');
    });
  });

  async function opening(ports: readonly number[]): Promise<() => Promise<Link>> {
    const url = new URL(database.url);
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    const over = `${url.protocol}//${url.username}${url.password === '' ? '' : `:${url.password}`}@${hosts}${url.pathname}`;
    return createOpenLink(await loadPostgres(), { url: over, statementTimeoutMs: 1_000 });
  }
});
