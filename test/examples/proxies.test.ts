import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStreamClient, EVERYTHING, STREAM_AGENTS } from '../protocol/stream-client.ts';
import { findHaproxy, startHaproxy } from '../support/haproxy.ts';
import { findNginx, startNginxWith } from '../support/nginx.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import type { ProxyProcess } from '../support/proxy-process.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const hasPostgres = (await findPostgres()) !== null;

const PROXIES = [
  { name: 'HAProxy', file: 'haproxy.cfg', isThere: findHaproxy(), start: startHaproxy },
  { name: 'nginx', file: 'nginx.conf', isThere: findNginx(), start: startNginxWith },
];

/** The example as it stands, but for the addresses, and for fewer connections than a test's machine may allow. */
function configuration(file: string, nodes: readonly ServerProcess[]): (port: number) => string {
  const text = readFileSync(path.join(import.meta.dirname, '../../examples/proxies', file), 'utf8');
  const withNodes = nodes.reduce((sum, { url }, n) => sum.replaceAll(`10.0.0.1${n + 1}:4747`, url.slice(7)), text);
  const withFewer = withNodes.replace(/maxconn \d+/, 'maxconn 1000');
  return (port) => withFewer.replace(/(bind|listen) :?8080/, `$1 127.0.0.1:${port}`);
}

describe.skipIf(!hasPostgres)('docs/scaling.md, "In front"', () => {
  let database: TestDatabase;
  let nodes: ServerProcess[];
  beforeAll(async () => {
    database = await createTestDatabase();
    nodes = await Promise.all([1, 2].map(() => startServerProcess({ database: database.url, agents: STREAM_AGENTS })));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });

  describe.each(PROXIES)('behind $name', ({ file, isThere, start }) => {
    let proxy: ProxyProcess & { url: string };
    beforeAll(async () => {
      if (isThere) proxy = await start(configuration(file, nodes));
    });
    afterAll(() => proxy?.stop());

    test.skipIf(!isThere)('a stream tells events while its task goes on', async () => {
      const client = createStreamClient(proxy.url);
      const taskId = await client.play({ op: 'emit' }, { op: 'ask' }, { op: 'emit', type: 'note.more' });
      const reader = await client.open(taskId);

      await reader.until(({ data }) => data?.includes('"question.asked"') ?? false);
      await client.answerNext(taskId);
      const rest = await reader.rest();

      expect(rest.map(({ event }) => event).at(-1)).toBe('end');
      expect(rest.some(({ data }) => data?.includes('"note.more"'))).toBe(true);
    });

    test.skipIf(!isThere)(
      'nobody notices that one server after the other is replaced',
      { timeout: 120_000 },
      async () => {
        const client = createStreamClient(proxy.url);
        const readers = await Promise.all(nodes.map(() => follow(client)));
        const statuses: number[] = [];
        let isOver = false;
        const asking = (async () => {
          while (!isOver) statuses.push((await client.get('/v1/tasks?limit=1')).status);
        })();

        for (const [n, node] of nodes.entries()) {
          const taskId = await client.play({ op: 'ask' }, { op: 'emit', count: 20 });
          const port = Number(new URL(node.url).port);
          expect(await node.stop('SIGTERM')).toBe(0);
          nodes[n] = await startServerProcess({ database: database.url, agents: STREAM_AGENTS, port });
          await client.answerNext(taskId);
          await client.ended(taskId);
        }
        isOver = true;
        await asking;

        expect(statuses.filter((status) => status !== 200)).toEqual([]);
        const ids = (await client.log(EVERYTHING)).map(({ id }) => id);
        for (const reader of readers) expect(await reader.until(ids.at(-1) ?? '')).toEqual(ids);
      },
    );
  });
});

/** Reads all that there is from its beginning, and comes back whenever it is let go. */
async function follow(client: ReturnType<typeof createStreamClient>) {
  const seen: string[] = [];
  let stream = await client.open(EVERYTHING, '?after=0');
  return {
    /** @returns all ids, up to this one */
    async until(lastId: string): Promise<string[]> {
      while (seen.at(-1) !== lastId) {
        const block = await stream.next();
        if (block === null) stream = await client.open(EVERYTHING, '', { 'Last-Event-ID': seen.at(-1) ?? '0' });
        else if (block.event === null && block.data !== null && block.id !== null) seen.push(block.id);
        else if (block.event === 'reset') throw new Error(`The cursor ${seen.at(-1)} is not known any more.`);
      }
      stream.close();
      return seen;
    },
  };
}
