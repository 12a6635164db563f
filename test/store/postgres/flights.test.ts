import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCommitQueue } from '../../../src/store/postgres/commit-queue.ts';
import { createOpenLink } from '../../../src/store/postgres/connection.ts';
import type { Link } from '../../../src/store/postgres/link.ts';
import { createLinks, type Links } from '../../../src/store/postgres/links.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { createRunGroup } from '../../../src/store/postgres/transaction.ts';
import type { Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';
import { noteEvents, Owner } from '../../support/store-owner.ts';

const server = await findPostgres();

describe.skipIf(server === null)('A commit', () => {
  let database: TestDatabase;
  let store: Store;
  let links: Links;
  let owner: Owner;
  /** How often something was sent when nothing was awaited any more. */
  let flights = 0;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
    const open = createOpenLink(await loadPostgres(), { url: database.url, statementTimeoutMs: 10_000 });
    links = createLinks(async () => counting(await open(), () => flights++), 1);
    const queue = createCommitQueue(createRunGroup(links, { onDecided() {}, onWritten() {} }, () => false));
    const commit = async (name: string, calls: Parameters<Store['commit']>[1]) => queue.commit({ owner: name, calls });
    owner = new Owner({ ...store, node: store.node, commit: commit as Store['commit'] });
  });
  afterAll(async () => {
    await links?.end();
    await store?.close();
    await database?.drop();
  });

  test('of whatever a running task does goes to the database twice', async () => {
    const taken: Record<string, number> = {};
    const count = async <T>(what: string, doing: () => Promise<T>): Promise<T> => {
      const before = flights;
      const done = await doing();
      taken[what] = flights - before;
      return done;
    };
    await owner.create();

    const { id } = await count('create', () => owner.create({ concurrencyKey: 'mail' }));
    const task = (await count('claim', () => owner.replay(id))).task;
    await count('append', () => owner.append(task, noteEvents(id, 5)));
    await count('begin', () => owner.begin(task, 'fetch', { messageId: 'msg_1' }));
    await count('settle', () => owner.settle(task, 'fetch'));
    const question = await count('ask', () => owner.ask(task, 'month'));
    await owner.task(id);
    await count('answer', () => owner.answer(question.id));
    await count('spawn', () => owner.spawn(task, 'child'));
    await owner.spawn(task, 'other');
    await count('finish', () => owner.finish(task));

    expect(taken).toEqual({
      create: 2,
      claim: 2,
      append: 2,
      begin: 2,
      settle: 2,
      ask: 2,
      answer: 2,
      spawn: 2,
      finish: 2,
    });
  });

  test('of a turn of a conversation does so, too', async () => {
    const conversation = await owner.open();
    const { id } = await owner.post(conversation.id, 'Hello.');
    const before = flights;

    const turn = await owner.claim(id);
    await owner.append(turn);
    await owner.post(conversation.id, 'And?');
    await owner.finish(turn);

    expect(flights - before).toBe(8);
  });

  test('that is refused goes once, and takes back its lock', async () => {
    const { id } = await owner.create();
    const before = flights;

    await owner.cancel(id);
    await owner.cancel(id);

    expect(flights - before).toBe(4);
  });
});

/** The same link, which tells when it is asked something while nothing is on its way. */
function counting(link: Link, onFlight: () => void): Link {
  let underway = 0;
  async function sent<T>(answer: Promise<T>): Promise<T> {
    if (underway === 0) onFlight();
    underway += 1;
    try {
      return await answer;
    } finally {
      underway -= 1;
    }
  }
  return {
    get isOpen() {
      return link.isOpen;
    },
    lost: link.lost,
    close: link.close,
    begin: (mode) => sent(link.begin(mode)),
    ask: (statement, ...values) => sent(link.ask(statement, ...values)),
  };
}
