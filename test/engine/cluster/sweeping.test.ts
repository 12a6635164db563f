import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../../src/engine/log.ts';
import { createSweeper, type Sweeper } from '../../../src/engine/sweeper.ts';
import { Owner } from '../../support/store-owner.ts';
import { allDone, turn } from '../published-store.ts';
import { openSharedStore, type SharedStore } from './shared-store.ts';

let shared: SharedStore;
let here: Owner;
let there: Owner;
let sweeper: Sweeper;
let isOnDuty: boolean;

beforeEach(() => {
  isOnDuty = false;
  shared = openSharedStore();
  const view = shared.view('here');
  const onFatal = (error: unknown) => {
    throw error;
  };
  sweeper = createSweeper({ store: view, retentionMs: null, isOnDuty: () => isOnDuty, onFatal });
  const log = createLog({ store: view, listeners: [sweeper.onCommitted], follow: () => null, onFatal });
  here = new Owner({ ...view, commit: log.commit }, 'ann');
  there = new Owner(shared.view('there'), 'ann');
  sweeper.start(log);
});
afterEach(async () => {
  sweeper.stop();
  await turn();
  await shared.base.close();
});

async function isReady(taskId: string): Promise<boolean> {
  return (await there.task(taskId)).runAt === null;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

test('A node makes happen what falls due by its own commits, though another is on duty', async () => {
  const soon = await here.create({ runAt: Date.now() + 60 });
  const sooner = await here.create({ runAt: Date.now() + 20 });

  await until(() => isReady(sooner.id));
  await until(() => isReady(soon.id));
});

test('A node on duty makes happen what others have written, once it has heard of it', async () => {
  isOnDuty = true;
  const { id } = await there.create({ runAt: Date.now() + 20 });

  sweeper.lookSoon();

  await until(() => isReady(id));
});

test('A node leaves to the one on duty what others have written, and what is to be cleared away', async () => {
  const { id } = await there.open();
  await there.remove(id);
  const late = await there.create({ runAt: Date.now() + 1 });
  await until(async () => there.store.now() > (late.runAt ?? 0));

  sweeper.lookSoon();
  await allDone();
  expect(await isReady(late.id)).toBe(false);
  expect(await there.store.purgeable(10)).toHaveLength(1);

  isOnDuty = true;
  sweeper.lookSoon();
  await until(() => isReady(late.id));
  await until(async () => (await there.store.purgeable(10)).length === 0);
});
