import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BY_INDEX } from '../../../src/store/postgres/by-index.ts';
import { createCommitQueue } from '../../../src/store/postgres/commit-queue.ts';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import type { Link } from '../../../src/store/postgres/link.ts';
import { createLinks } from '../../../src/store/postgres/links.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { type Statement, statement, type Value } from '../../../src/store/postgres/statement.ts';
import { createRunGroup } from '../../../src/store/postgres/transaction.ts';
import type { Store } from '../../../src/store/store.ts';
import { liveThrough } from '../../support/busy-owner.ts';
import { fillCrowd } from '../../support/postgres-crowd.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';
import { Owner } from '../../support/store-owner.ts';

const OWNERS = 1_000;
/** Tables that have few rows, however many tasks there are. */
const SMALL = /Seq Scan on (node|epoch|turns)\b/g;
/** All of an owner's, or all of a root's. */
const ALL_OF_ONE = /Index Cond: \((log|root) = [^ ()]+\)\n/;
/** A deleted conversation has none of its own. */
const PURGED_KEYS = 'strpos(result, conversation.id)';

const server = await findPostgres();

describe.skipIf(server === null)('Among 10,000 tasks of 1,000 owners', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
    await fillCrowd(database.url, OWNERS);
  }, 60_000);
  afterAll(async () => {
    await store?.close();
    await database?.drop();
  });

  test('no commit looks through a table, whatever it does', async () => {
    const asked = new Map<string, number>();
    const open = createOpenLink(await loadPostgres(), {
      url: database.url,
      settings: BY_INDEX,
      statementTimeoutMs: 10_000,
    });
    const links = createLinks(async () => noting(await open(), asked), 1);
    const told = { onDecided() {}, onWritten() {} };
    const queue = createCommitQueue(createRunGroup(links, told, () => false));
    const commit = async (owner: string, calls: Parameters<Store['commit']>[1]) => queue.commit({ owner, calls });

    await liveThrough(new Owner({ ...store, node: store.node, commit: commit as Store['commit'] }));

    expect(asked.size).toBeGreaterThan(40);
    const plans = await links.use((link) => Promise.all([...asked].map(([text, count]) => planOf(link, text, count))));
    for (const { text, plan } of plans) {
      expect(plan.replaceAll(SMALL, ''), text).not.toContain('Seq Scan');
      expect(plan, text).not.toMatch(/Hash Join|Merge Join/);
      if (!text.includes(PURGED_KEYS)) expect(plan, text).not.toMatch(ALL_OF_ONE);
    }
    await links.end();
  }, 30_000);
});

/** The same link; what is asked of it is noted, with how many parameters it takes. */
function noting(link: Link, asked: Map<string, number>): Link {
  return {
    get isOpen() {
      return link.isOpen;
    },
    lost: link.lost,
    begin: link.begin,
    close: link.close,
    ask<Row>(question: Statement<Row>, ...values: readonly Value[]) {
      if (/^\s*(select|insert|update|delete|with)/.test(question.text)) asked.set(question.text, values.length);
      return link.ask(question, ...values);
    },
  };
}

let prepared = 0;

/** One that does not hang on the parameters. */
async function planOf(link: Link, text: string, parameters: number): Promise<{ text: string; plan: string }> {
  const name = `asked_${++prepared}`;
  const nulls = Array.from({ length: parameters }, () => 'null');
  await link.ask(statement(`prepare ${name} as ${text}`));
  const explain = statement<{ 'QUERY PLAN': string }>(
    `explain execute ${name}${parameters > 0 ? `(${nulls.join(', ')})` : ''}`,
  );
  const lines = await link.ask(explain);
  return { text, plan: lines.map((line) => line['QUERY PLAN']).join('\n') };
}
