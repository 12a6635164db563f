import { createArgs, noteEvents, type Owner } from './store-owner.ts';

/** Does with one owner's tasks and conversations everything that a store can be asked to do, at least once. */
export async function liveThrough(owner: Owner): Promise<void> {
  const task = await owner.start({ concurrencyKey: 'mail', maxAttempts: 2 });
  await owner.create({ concurrencyKey: 'mail', priority: 1 });
  await owner.append(task, noteEvents(task.id, 3));
  await owner.step(task, 'fetch');
  await owner.begin(task, 'write', { messageId: 'msg_1' });
  const question = await owner.ask(task, 'month', 60_000);
  await owner.sleep(task, 'nap', 60_000);
  await owner.wait(task, ['month']);
  await owner.answer(question.id);
  const again = (await owner.replay(task.id)).task;
  const child = await owner.claim((await owner.spawn(again, 'child')).id);
  await owner.finish(child);
  await owner.fail(again, { when: 'now' });
  await owner.cancel(task.id);
  const failed = await owner.start();
  await owner.fail(failed);
  await owner.retry(failed.id);
  const idempotency = { key: 'once', fingerprint: 'print' };
  await owner.store.commit(owner.name, [{ verb: 'createTask', args: createArgs(), idempotency }]);
  await converse(owner);
  await owner.later();
  await owner.prune(failed.id);
}

async function converse(owner: Owner): Promise<void> {
  const { id } = await owner.open({ title: 'Spring' });
  const turn = await owner.claim((await owner.post(id, 'Hello.')).id);
  await owner.post(id, 'And?');
  await owner.history(turn);
  await owner.post(id, 'Stop.', { whenBusy: 'interrupt' });
  await owner.release(turn);
  const [, , last] = await owner.turns(id);
  if (last !== undefined) await owner.finish(await owner.claim(last));
  await owner.remove(id);
  await owner.purge(id);
}
