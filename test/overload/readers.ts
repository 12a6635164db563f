import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median, percentile } from '../../bench/support/median.ts';
import { createApi } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';
import type { Pace } from './paced-reader.ts';
import type { CrowdCommand, CrowdReadings } from './reader-crowd.ts';

export interface ReadersOptions {
  seconds: number;
  counts: Record<Pace, number>;
  /** One event. */
  everyMs: number;
  padBytes: number;
}

/** In MiB, the middle of a while. */
interface Memory {
  resident: number;
  /** The least of that while, which is what the garbage collector leaves. */
  heap: number;
}

export interface ReadersFigures {
  events: number;
  /** Of the normal readers. */
  delays: { count: number; p50Ms: number; p99Ms: number; mostMs: number };
  connections: Record<Pace, number>;
  /** Readers that had not exactly the log in the end, and what was wrong. */
  wrong: string[];
  /** After warming up, and at the end. */
  memory: { before: Memory; after: Memory };
  /** When all readers were done. */
  streamsOpen: number;
}

const MEBIBYTE = 1024 * 1024;
/** The memory is looked at in these parts of the time. */
const BEFORE = [0.25, 0.4] as const;
const AFTER = [0.85, 1] as const;

/** Has a crowd read what one task tells, each at its own pace, and compares what they got to the log. */
export async function readers({ seconds, counts, everyMs, padBytes }: ReadersOptions): Promise<ReadersFigures> {
  const server = await startServerProcess({ agents: ['test/overload/readers-agents.ts'] });
  const crowds = [startCrowd(), startCrowd()] as const;
  try {
    const api = createApi(server.url);
    const { id } = await api.createTask({ agent: 'steady', input: { ms: seconds * 1000, everyMs, padBytes } });
    const path = `/v1/tasks/${id}/events`;
    const { normal, ...others } = counts;
    // Apart, so that the readers that are timed do not wait for their neighbours.
    send(crowds[0], { url: server.url, path, counts: { normal } });
    send(crowds[1], { url: server.url, path, counts: others });

    const memory: { at: number; resident: number; heap: number }[] = [];
    const startedAt = performance.now();
    const look = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]) / MEBIBYTE;
      const at = (performance.now() - startedAt) / (seconds * 1000);
      memory.push({ at, resident: value('process_resident_memory_bytes'), heap: value('nodejs_heap_size_used_bytes') });
    };
    const looking = setInterval(() => void look(), 500);
    await api.ended(id);
    clearInterval(looking);
    const readings = (await Promise.all(crowds.map(finish))).flat();
    const log = await api.eventsOf(id);
    const during = ([from, to]: readonly [number, number]): Memory => {
      const own = memory.filter(({ at }) => at >= from && at <= to);
      return {
        resident: median(own.map(({ resident }) => resident)),
        heap: Math.min(...own.map(({ heap }) => heap)),
      };
    };
    return {
      events: log.length,
      delays: delaysOf(readings),
      connections: connectionsOf(readings),
      wrong: readings.flatMap(({ pace, reading: { last, faults } }) => {
        if (faults.length === 0 && last === log.length && log.at(-1)?.seq === last) return [];
        return [`${pace}: ${last} of ${log.length}, ${faults.slice(0, 3).join(', ')}`];
      }),
      memory: { before: during(BEFORE), after: during(AFTER) },
      streamsOpen: await streamsOpen(server.url),
    };
  } finally {
    for (const crowd of crowds) crowd.kill();
    await server.stop();
  }
}

function startCrowd(): ChildProcess {
  return fork(fileURLToPath(new URL('reader-crowd.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });
}

function send(crowd: ChildProcess, command: CrowdCommand): void {
  crowd.send(command);
}

async function finish(crowd: ChildProcess): Promise<CrowdReadings> {
  const done = once(crowd, 'message');
  crowd.send('finish');
  const [readings] = await done;
  return readings;
}

function delaysOf(readings: CrowdReadings): ReadersFigures['delays'] {
  const all = readings.filter(({ pace }) => pace === 'normal').flatMap(({ reading }) => reading.delaysMs);
  return {
    count: all.length,
    p50Ms: median(all),
    p99Ms: percentile(all, 0.99),
    mostMs: percentile(all, 1),
  };
}

function connectionsOf(readings: CrowdReadings): Record<Pace, number> {
  const counts = { normal: 0, stalled: 0, slow: 0, flapping: 0 };
  for (const { pace, reading } of readings) counts[pace] += reading.connections;
  return counts;
}

async function streamsOpen(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^holdfast_streams_open (\d+)/m.exec(text)?.[1]);
}
