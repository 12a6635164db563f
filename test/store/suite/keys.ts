import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { createArgs, newId, Owner, resultOf } from '../../support/store-owner.ts';

export function testKeys(store: () => Store): void {
  describe('an idempotency key', () => {
    const create = (key: string, fingerprint: string) =>
      ({ verb: 'createTask', args: createArgs(), idempotency: { key, fingerprint } }) as const;

    test('brings the first result again for the same request', async () => {
      const ann = new Owner(store());

      const first = await store().commit(ann.name, [create('k', 'post tasks')]);
      const again = await store().commit(ann.name, [create('k', 'post tasks')]);

      expect(again.outcomes[0]).toEqual({ ...first.outcomes[0], replayed: true });
      expect(await ann.seqs()).toEqual([1]);
    });

    test('works within one batch as well', async () => {
      const ann = new Owner(store());

      const { outcomes } = await store().commit(ann.name, [create('k', 'a'), create('k', 'a')]);

      expect(resultOf(outcomes[1]).task.id).toBe(resultOf(outcomes[0]).task.id);
      expect(await ann.seqs()).toEqual([1]);
    });

    test('is refused for another request', async () => {
      const ann = new Owner(store());
      await store().commit(ann.name, [create('k', 'a')]);

      const { outcomes } = await store().commit(ann.name, [create('k', 'b')]);

      expect(outcomes[0]).toMatchObject({ ok: false, code: 'idempotency_mismatch' });
    });

    test('is not used up by a refusal', async () => {
      const ann = new Owner(store());
      const idempotency = { key: 'k', fingerprint: 'a' };
      await store().commit(ann.name, [
        { verb: 'cancelTask', args: { taskId: newId('task'), reason: null }, idempotency },
      ]);

      const { outcomes } = await store().commit(ann.name, [create('k', 'b')]);

      expect(outcomes[0]).toMatchObject({ ok: true, replayed: false });
    });

    test("means nothing in another owner's hands", async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      await store().commit(ann.name, [create('k', 'a')]);

      const known = await Promise.all([ann, ben].map(({ name }) => store().hasKey(name, 'k')));
      const { outcomes } = await store().commit(ben.name, [create('k', 'b')]);

      expect(known).toEqual([true, false]);
      expect(outcomes[0]).toMatchObject({ ok: true, replayed: false });
    });
  });
}
