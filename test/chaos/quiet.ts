import type { Task } from '../../src/model/task.ts';
import { type Field, read } from './fleet/field.ts';
import { pass } from './pass.ts';
import type { Played } from './play.ts';

/** So long may everything stand still, and so long may it go on without an end. */
const STILL_MS = 60_000;
const ENDLESS_MS = 180_000;
const LOOK_MS = 100;
const RESTARTS = 3;

/**
 * Waits until every task that was to be has been created and has ended. A server that ends by itself meanwhile is started
 * again, a few times.
 *
 * @param patienceMs the longest time that it may go on without an end, if that is more than a few minutes
 * @returns what was unfinished when nothing moved any more
 */
export async function untilQuiet(
  server: Played,
  field: Field,
  created: Promise<unknown>,
  patienceMs: number,
): Promise<Task[]> {
  const begun = Date.now();
  const endlessMs = Math.max(ENDLESS_MS, patienceMs);
  let movedAt = begun;
  let before = '';
  let restarts = 0;
  let areCreated = false;
  void created.then(() => {
    areCreated = true;
  });
  for (;;) {
    if (!server.isUp && restarts++ < RESTARTS) await server.start();
    const page = await read<{ items: Task[] }>(field, '/v1/tasks?status=unfinished&limit=200');
    if (areCreated && page?.items.length === 0) return [];
    const now = Date.now();
    const seen = JSON.stringify(page?.items.map(({ id, status, cursor }) => [id, status, cursor.last]));
    if (seen !== before) movedAt = now;
    before = seen;
    if (now - movedAt > STILL_MS || now - begun > endlessMs) return page?.items ?? [];
    await pass(LOOK_MS, field.over);
  }
}
