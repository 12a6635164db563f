import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { percentile } from '../../bench/support/median.ts';
import { type Api, createApi } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';
import { type Bystander, watchBystander } from './bystander.ts';
import type { LoadCommand, Sent } from './load-generator.ts';
import { pin } from './pinned.ts';
import { isTaken } from './requester.ts';

export interface OverloadOptions {
  /** How long three times the capacity lasts. */
  seconds: number;
  /** How long the capacity is measured, after as long again to warm up. */
  measureSeconds: number;
  /** How long it may take to be normal again, and for how long that is looked at. */
  recoverySeconds: number;
  /** How many of the acknowledged tasks are read; all of them must be in the log. */
  maxLookups: number;
}

export interface OverloadFigures {
  pinned: boolean;
  /** Tasks done in a second for clients that wait for each. */
  capacity: number;
  calmP99Ms: number;
  offered: number;
  accepted: number;
  acceptedP99Ms: number;
  /** The same from when they were sent, which leaves out how late the generator was. */
  sinceSentP99Ms: number;
  /** How late the generator itself was. */
  lateP99Ms: number;
  refused: Record<number, number>;
  /** Refusals that did not say when to come back. */
  withoutRetryAfter: number;
  /** Acknowledged tasks that are not in the log, or not found. */
  lost: string[];
  bystander: Bystander;
  /** Of the last second of the recovery. */
  recovered: { share: number; p99Ms: number };
  /** After how many seconds every request was taken, and promptly, from then on; null for never. */
  recoveredAfter: number | null;
}

const FACTOR = 3;
const CLIENTS = 256;
/** What a calm server is asked for, of its capacity. */
const CALM_SHARE = 0.3;
/** Prompt is what is as fast as before the overload, give or take what a busy machine does. */
const PROMPT = { times: 3, leastMs: 250 };
const LOOKUPS_AT_ONCE = 32;

/** Asks a server for three times as many tasks as it can make, and looks at what becomes of everybody. */
export async function overload(options: OverloadOptions): Promise<OverloadFigures> {
  const { seconds, measureSeconds, recoverySeconds, maxLookups } = options;
  const server = await startServerProcess({ agents: ['test/overload/overload-agents.ts'] });
  const generator = fork(fileURLToPath(new URL('load-generator.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });
  try {
    const pinned = pin(server.pid, 0) && pin(generator.pid ?? 0, 1);
    const api = createApi(server.url);
    const load = (inSeconds: number, how: LoadCommand['load']) =>
      sendLoad(generator, { url: server.url, ms: inSeconds * 1000, load: how });

    const warm = await load(measureSeconds, { kind: 'closed', clients: CLIENTS });
    const measured = await load(measureSeconds, { kind: 'closed', clients: CLIENTS });
    const capacity = measured.filter(isAccepted).length / measureSeconds;
    const calmRate = CALM_SHARE * capacity;
    const calm = await load(measureSeconds, { kind: 'open', perSecond: calmRate });
    const bystander = await watchBystander(api, seconds);
    const sent = await load(seconds, { kind: 'open', perSecond: FACTOR * capacity });
    const seen = await bystander.end();
    const after = await load(recoverySeconds + 2, { kind: 'open', perSecond: calmRate });

    const accepted = sent.filter(isAccepted);
    const calmP99Ms = p99(calm.filter(isAccepted).map(latency));
    const all = [...warm, ...measured, ...calm, ...sent, ...after];
    return {
      pinned,
      capacity,
      calmP99Ms,
      offered: sent.length / seconds,
      accepted: accepted.length / seconds,
      acceptedP99Ms: p99(accepted.map(latency)),
      sinceSentP99Ms: p99(accepted.map(({ answeredAt, sentAt }) => answeredAt - sentAt)),
      lateP99Ms: p99(sent.map(({ sentAt, dueAt }) => sentAt - dueAt)),
      refused: countsOf(sent.filter((one) => !isAccepted(one))),
      withoutRetryAfter: sent.filter(({ status, hasRetryAfter }) => status >= 429 && !hasRetryAfter).length,
      lost: await missing(
        api,
        all.flatMap(({ taskId }) => taskId ?? []),
        maxLookups,
      ),
      bystander: seen,
      recoveredAfter: recoveredAfter(after, Math.max(PROMPT.leastMs, PROMPT.times * calmP99Ms)),
      recovered: secondOf(after, recoverySeconds),
    };
  } finally {
    generator.kill();
    await server.stop();
  }
}

async function sendLoad(generator: ChildProcess, command: LoadCommand): Promise<Sent[]> {
  const done = once(generator, 'message');
  generator.send(command);
  const [sent] = await done;
  return sent;
}

function isAccepted({ status }: Sent): boolean {
  return isTaken(status);
}

function latency({ answeredAt, dueAt }: Sent): number {
  return answeredAt - dueAt;
}

function p99(values: readonly number[]): number {
  return percentile(values, 0.99);
}

function countsOf(sent: readonly Sent[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of sent) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function secondOf(sent: readonly Sent[], second: number) {
  const own = sent.filter(({ dueAt }) => Math.floor(dueAt / 1000) === second);
  const accepted = own.filter(isAccepted);
  return { share: accepted.length / own.length, p99Ms: p99(accepted.map(latency)) };
}

/** The first second from which on every second was as good as before. */
function recoveredAfter(sent: readonly Sent[], promptMs: number): number | null {
  const seconds = Math.floor((sent.at(-1)?.dueAt ?? 0) / 1000);
  const bad = Array.from({ length: seconds }, (_, second) => {
    const { share, p99Ms } = secondOf(sent, second);
    return share < 1 || p99Ms > promptMs;
  });
  const last = bad.lastIndexOf(true);
  return last === seconds - 1 ? null : last + 1;
}

/** Those of the acknowledged tasks that the log does not tell of, or that cannot be read. */
async function missing(api: Api, ids: readonly string[], maxLookups: number): Promise<string[]> {
  const told = new Set<string>();
  for (const { type, taskId } of await api.log()) if (type === 'task.created') told.add(taskId);
  const lost = ids.filter((id) => !told.has(id));
  const step = Math.max(1, Math.ceil(ids.length / maxLookups));
  const read = ids.filter((_, index) => index % step === 0);
  let next = 0;
  async function lookUp(): Promise<void> {
    for (let id = read[next++]; id !== undefined; id = read[next++]) {
      const { status } = await api.get(`/v1/tasks/${id}`);
      if (status !== 200) lost.push(id);
    }
  }
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, lookUp));
  return lost;
}
