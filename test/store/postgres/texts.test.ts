import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromText, toText } from '../../../src/store/postgres/escape.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';
import { createArgs, newId, noteEvents, Owner } from '../../support/store-owner.ts';

/** Any sequence of code units, those among them that PostgreSQL cannot keep more often than chance would have it. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\0', '\u0001', '\u00010000', '\ud800', '\udc00', '😀', '0', 'f'),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((parts) => parts.join(''));
const HARD = 'a\0b\u0001c\ud800d\udc00 \u00010000 "\\{}\',😀\u007f';

describe('Text as PostgreSQL keeps it', () => {
  test('comes back as it was, and holds nothing that cannot be kept', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = toText(text);
        expect(fromText(stored)).toBe(text);
        expect(/[\0\p{Surrogate}]/u.test(stored)).toBe(false);
      }),
    );
  });

  test('differs where the texts do', () => {
    fc.assert(fc.property(anyText, anyText, (one, other) => (toText(one) === toText(other)) === (one === other)));
  });

  test('is the text itself, mostly', () => {
    expect(toText('Über „Größe“ 😀')).toBe('Über „Größe“ 😀');
    expect(toText(null)).toBeNull();
  });
});

const server = await findPostgres();

describe.skipIf(server === null)('A store on PostgreSQL', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createTestDatabase();
    store = await openPostgresStore({ url: database.url });
  });
  afterAll(async () => {
    await store?.close();
    await database?.drop();
  });

  test('gives back whatever text it was given, wherever it stands', async () => {
    const owner = new Owner(store, HARD);
    const { id } = await owner.open({ title: HARD, metadata: { [HARD]: HARD } });
    const turn = await owner.claim((await owner.post(id, HARD, { agent: HARD })).id);
    await owner.step(turn, HARD, JSON.stringify(HARD));
    const asked = await owner.ask(turn, `${HARD}?`);
    const decline = { questionId: asked.id, reason: HARD, resolvedBy: HARD };
    await store.commit(HARD, [{ verb: 'declineQuestion', args: decline }]);
    await owner.append(
      turn,
      noteEvents(turn.id, 1, () => JSON.stringify(HARD)),
    );

    expect(await owner.conversation(id)).toMatchObject({ title: HARD, metadata: { [HARD]: HARD } });
    expect(await owner.task(turn.id)).toMatchObject({ owner: HARD, agent: HARD });
    expect((await store.listMessages(HARD, { conversationId: id, limit: 9, order: 'asc' }))[0]?.content).toBe(HARD);
    expect(await store.question(HARD, asked.id)).toMatchObject({
      name: `${HARD}?`,
      resolution: { reason: HARD, resolvedBy: HARD },
    });
    expect((await owner.read()).events.at(-1)?.data).toBe(JSON.stringify(HARD));
    await owner.requeue(turn, 'drained');
    const { rows } = await owner.replay(turn.id);
    expect(rows.map(({ key, value }) => ({ key, value }))).toContainEqual({ key: HARD, value: JSON.stringify(HARD) });
  });

  test('gives back numbers and the order of keys as JSON had them', async () => {
    const input = {
      z: 1e21,
      a: -0.1,
      m: [Number.MAX_SAFE_INTEGER, 5e-324, 1.7976931348623157e308],
      '': null,
      b: 2 ** 53,
    };
    const owner = new Owner(store);
    const { id } = await owner.create({ input });

    const read = (await owner.task(id)).input;

    expect(JSON.stringify(read)).toBe(JSON.stringify(input));
  });

  test('finds what was done with a key, and what is in a lane, by any text', async () => {
    const owner = new Owner(store);
    const idempotency = { key: HARD, fingerprint: HARD };
    const args = createArgs({ taskId: newId('task'), concurrencyKey: HARD });
    const first = await store.commit(owner.name, [{ verb: 'createTask', args, idempotency }]);
    const again = await store.commit(owner.name, [{ verb: 'createTask', args: createArgs(), idempotency }]);
    const second = await owner.create({ concurrencyKey: HARD });

    expect(again.outcomes[0]).toMatchObject({ ok: true, replayed: true, result: { task: { id: args.taskId } } });
    expect(first.outcomes[0]).toMatchObject({ replayed: false });
    expect(await store.hasKey(owner.name, HARD)).toBe(true);
    const offered = (await store.claimable(100)).filter((each) => each.owner === owner.name);
    expect(offered.map(({ taskId }) => taskId)).toEqual([args.taskId]);
    await owner.cancel(args.taskId);
    const next = (await store.claimable(100)).filter((each) => each.owner === owner.name);
    expect(next.map(({ taskId }) => taskId)).toEqual([second.id]);
  });
});
