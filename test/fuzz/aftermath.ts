import { setTimeout as delay } from 'node:timers/promises';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { createApi, type Page } from '../support/api.ts';
import type { FuzzedServer, Held } from './fuzzed-server.ts';
import type { Fault } from './fuzzing.ts';
import { logFaults } from './whole-log.ts';

/** What the server held when nobody wanted anything of it. */
export interface Rest {
  held: Held;
  descriptors: number;
}

const MAX_GROWTH_MIB = 20;
const SETTLE_MS = 20_000;
const LOOK_MS = 250;

/** Waits until streams are closed and descriptors are no longer let go, and measures. */
export async function restOf(server: FuzzedServer): Promise<Rest> {
  await within(SETTLE_MS, async () => (await server.streamsOpen()) === 0);
  let least = server.descriptors();
  for (let same = 0; same < 4; ) {
    await delay(LOOK_MS);
    const now = server.descriptors();
    same = now < least ? 0 : same + 1;
    least = Math.min(least, now);
  }
  return { held: await server.held(), descriptors: least };
}

/**
 * What is wrong with a server after all that, compared to an earlier rest.
 *
 * @param wasWarm whether all that is kept for good was there before: else what threads and allocators keep may still grow
 */
export async function aftermath(
  server: FuzzedServer,
  before: Rest,
  wasWarm: boolean,
): Promise<{ faults: Fault[]; held: Held }> {
  const faults: Fault[] = [];
  const expect = (holds: boolean, what: string) => holds || faults.push({ what, request: '' });

  expect(await within(SETTLE_MS, async () => (await server.streamsOpen()) === 0), 'streams stay open');
  const noMore = await within(SETTLE_MS, async () => server.descriptors() <= before.descriptors);
  expect(noMore, `${server.descriptors()} descriptors, of ${before.descriptors} before`);
  let held = await server.held();
  const isBack = () => {
    const isLiveBack = held.live - before.held.live <= MAX_GROWTH_MIB;
    return isLiveBack && (!wasWarm || held.resident - before.held.resident <= MAX_GROWTH_MIB);
  };
  const fits = await within(SETTLE_MS, async () => {
    held = await server.held();
    return isBack();
  });
  expect(fits, `it holds ${shown(held)}, and held ${shown(before.held)} before`);
  faults.push(...(await logFaults(server.url, server.ownHeaders)).map((what) => ({ what, request: '' })));
  expect(await worksAsEver(server), 'a normal task does not come to its end');
  return { faults, held };
}

export function shown({ live, resident }: Held): string {
  return `${live.toFixed(1)} MiB live and ${resident.toFixed(1)} MiB resident`;
}

/** A task that emits, asks, is answered, has a child, and ends. */
async function worksAsEver({ url, ownHeaders }: FuzzedServer): Promise<boolean> {
  const api = createApi(url);
  const input = { emits: 5, says: 'Hello.', asks: 1, spawns: 1, sleepMs: 20, workMs: 10 };
  const started = await api.post<Task>('/v1/tasks', { agent: 'fuzz-doer', input }, ownHeaders);
  const { id } = started.body;
  let isAnswered = false;
  for (;;) {
    const { body: task } = await api.get<Task>(`/v1/tasks/${id}?wait=1`, ownHeaders);
    if (task.status === 'failed' || task.status === 'cancelled') return false;
    if (task.status === 'completed') return isAnswered && JSON.stringify(task.output).includes(JSON.stringify(input));
    // It may be waiting for its child and its timer as well.
    const pending = await api.get<Page<Question>>(`/v1/questions?status=pending&taskId=${id}`, ownHeaders);
    const [question] = pending.body.items;
    if (question === undefined) continue;
    const path = `/v1/questions/${question.id}/answers`;
    isAnswered = (await api.post(path, { answers: { a: 'Yes', b: ['1'] } }, ownHeaders)).status === 200;
  }
}

async function within(ms: number, holds: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > until) return false;
    await delay(LOOK_MS);
  }
  return true;
}
