import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dice, diceOf } from '../support/dice.ts';
import type { CodeCopy } from './failpoint-copy.ts';
import { type CopyServer, startCopy } from './failpoint-server.ts';
import { heardFile } from './power-cut-agents.ts';
import {
  cursorFault,
  doubledOrders,
  followFaults,
  type KeptEvent,
  readKept,
  resetsOf,
  reused,
  untilOf,
} from './power-cut-check.ts';
import { Clients, type Told } from './power-cut-client.ts';
import type { Shim } from './power-cut-shim.ts';
import { type Image, LEFTOVERS, readImage, readTrace, type Trace, traceBytes, writeImage } from './power-cut-trace.ts';

export const POWER_CUT_AGENTS = 'test/chaos/power-cut-agents.ts';

export interface PowerCutOptions {
  /** What is to be run, made with {@link POWER_CUT_AGENTS}. */
  copy: CodeCopy;
  shim: Shim;
  rounds: number;
  /** How many moments of each round are looked at, beside its end. */
  cuts: number;
  seed: number;
  /** Told of each round in a line. */
  say?: (line: string) => void;
}

/** So much is told in a round before anything may happen. */
const LEAST_TOLD = 60;
const MORE_LOAD_MS = 1500;
/** So many events may not have been synced when the power went. */
const RECENT = 1000;

/** A server that holds has 0 in the last four. */
export interface PowerCutFigures {
  /** What clients and agents were told: that a task is created, an answer taken, an event stored … */
  told: number;
  /** Moments at which the power was cut. */
  cuts: number;
  /** How often the WAL was moved into the database. */
  checkpoints: number;
  /** How much of what was told before a cut is not so after it. */
  lost: number;
  /** Events that were told, and whose seq was another's later. */
  reused: number;
  /** How often a stream was told to begin anew. */
  resets: number;
  /** Holes in streams, cursors that are served though their event is lost, or refused though it is kept, tasks made twice. */
  faults: string[];
}

/**
 * Cuts the power of a server under load, again and again, and starts it each time on what the last cut of the round has
 * left. The other cuts are of the same run at earlier moments, in which less had been told.
 *
 * @throws Error when what a cut has left is no whole database, or has a log with holes
 */
export async function cutPower({ copy, shim, rounds, cuts, seed, say }: PowerCutOptions): Promise<PowerCutFigures> {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-power-cut-')));
  const place = { dataDir: path.join(dir, 'data'), trace: path.join(dir, 'trace'), look: path.join(dir, 'look') };
  const dice = diceOf(seed);
  const clients = new Clients(dice);
  const figures = { cuts: 0, checkpoints: 0, faults: [] as string[] };
  /** What was not so after any of the cuts, … */
  const lost = new Set<Told>();
  /** … after one on which a server went on, … */
  const gone = new Set<Told>();
  /** … and what has come to stand in the place of something else. */
  const replaced = new Set<Told>();
  let left: Image = new Map();
  let log: readonly KeptEvent[] = [];
  /** The traces of all rounds, one behind the other. */
  let before = 0;

  async function round(): Promise<void> {
    writeImage(place.dataDir, left);
    const env = shim.env(place.dataDir, place.trace);
    const server = startCopy(copy, { dataDir: place.dataDir, agents: POWER_CUT_AGENTS, env });
    await live(server).finally(server.kill);
    clients.told.push(...heardIn(place.trace, before));
    const trace = readTrace(place.trace, left, dice);
    for (const at of cutPlaces(trace, cuts, dice)) await cut(trace, at);
    for (const name of trace.mistaken(readImage(place.dataDir)))
      figures.faults.push(`The trace is wrong about ${name}.`);
    for (const fact of await cut(trace, trace.bytes)) gone.add(fact);
    for (const fact of reused(gone, log)) replaced.add(fact);
    figures.faults.push(...doubledOrders([...clients.orders.values()], log).map((order) => `Made twice: ${order}`));
    figures.checkpoints += trace.syncs.filter(({ name }) => name === 'holdfast.db').length;
    before += trace.bytes;
  }

  async function live(server: CopyServer): Promise<void> {
    const url = await server.url;
    for (const event of sampleEvents(clients.told, gone, dice)) {
      const fault = await cursorFault(url, event, log);
      if (fault !== null) figures.faults.push(fault);
    }
    const using = clients.use(url, () => before + traceBytes(place.trace));
    const told = clients.haveBeenTold(clients.told.length + LEAST_TOLD);
    await Promise.all([using, told.then(() => delay(dice.below(MORE_LOAD_MS))).then(server.kill)]);
  }

  /** @returns what was told until then and is not so */
  async function cut(trace: Trace, at: number): Promise<Told[]> {
    left = trace.cutAt(at, dice.pick(LEFTOVERS));
    writeImage(place.look, left);
    const kept = await readKept(place.look);
    rmSync(place.look, { recursive: true });
    const missing = clients.told.filter((fact) => fact.at <= before + at && !gone.has(fact) && !kept.isTrue(fact));
    for (const fact of missing) lost.add(fact);
    figures.cuts += 1;
    log = kept.log;
    return missing;
  }

  try {
    for (let n = 1; n <= rounds; n++) {
      await round();
      say?.(`round ${n}: told ${clients.told.length}, lost ${lost.size}, reused ${replaced.size}, log ${log.length}`);
      rmSync(dir, { recursive: true });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const resets = clients.followers.map(resetsOf).reduce((sum, count) => sum + count, 0);
  const faults = [...figures.faults, ...clients.followers.flatMap(followFaults)];
  return { ...figures, told: clients.told.length, lost: lost.size, reused: replaced.size, resets, faults };
}

/** Any moments, and just as many at which a sync had just come back, in their order. */
function cutPlaces(trace: Trace, count: number, dice: Dice): number[] {
  const places = Array.from({ length: count }, (_, n) =>
    n % 2 === 0 || trace.syncs.length === 0 ? dice.below(trace.bytes + 1) : dice.pick(trace.syncs).at,
  );
  return places.sort((a, b) => a - b);
}

/** Events that somebody knows of, each with the cursor that they would come back with: the newest, some older, some lost. */
function sampleEvents(told: readonly Told[], gone: ReadonlySet<Told>, dice: Dice): KeptEvent[] {
  const events = told.filter((fact) => fact.kind === 'event').filter(({ cursor }) => untilOf(cursor) === null);
  const lost = events.filter((fact) => gone.has(fact));
  const recent = events.slice(-RECENT);
  const any = (of: typeof events) => (of.length === 0 ? [] : [dice.pick(of)]);
  return [...lost.slice(0, 2), ...any(lost), ...any(recent), ...any(recent), ...any(events), ...events.slice(-2)];
}

/** What agents of the process with this trace were told. @param before how long the traces before it were */
export function heardIn(trace: string, before: number): Told[] {
  const file = heardFile(trace);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => {
    const [taskId = '', n, at] = line.split(' ');
    return { kind: 'heard', taskId, n: Number(n), at: before + Number(at) };
  });
}
