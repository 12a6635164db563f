import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Dice } from '../support/dice.ts';

/** How much of what was never synced a cut leaves: nothing, all, the oldest part, or any sectors of it. */
export type Leftover = (typeof LEFTOVERS)[number];
export const LEFTOVERS = ['nothing', 'all', 'the oldest', 'any sectors'] as const;

/** Names and bytes of a directory. */
export type Image = ReadonlyMap<string, Buffer>;

/** What a process did to a directory, as test/chaos/power-cut.c wrote it down. */
export interface Trace {
  readonly bytes: number;
  /** The syncs that the process was told of: of which file, and where in the trace. */
  readonly syncs: readonly { name: string; at: number }[];
  /** How many syncs have failed. */
  readonly failedSyncs: number;
  /** What a power cut leaves when so much of the trace has happened; the places must ascend from call to call. */
  cutAt(place: number, leftover: Leftover): Image;
  /** The names of files that are not what the whole trace makes of them: there should be none. */
  mistaken(found: Image): string[];
}

type Kind = (typeof KINDS)[number];
const KINDS = ['', 'exists', 'create', 'unlink', 'write', 'truncate', 'sync', 'failed sync', 'unfollowed'] as const;

interface Act {
  kind: Kind;
  file: number;
  /** An offset or a size; of a sync, how much of the trace it covers. */
  place: number;
  bytes: Buffer;
  /** Where it begins and ends in the trace. */
  from: number;
  to: number;
}

const HEADER_BYTES = 24;
const DIRECTORY = 1;
const SECTOR_BYTES = 512;

/**
 * Reads a trace.
 *
 * @param before what the directory held when the process began
 * @param lies whether a sync of the file by this name has done nothing
 * @throws Error when the process did something that a trace cannot follow
 */
export function readTrace(
  file: string,
  before: Image,
  dice: Dice,
  lies: (name: string) => boolean = () => false,
): Trace {
  const all = actsIn(readFileSync(file));
  const acts = all.filter((act) => act.kind !== 'sync' || !lies(nameOf(all, act.file)));
  const disk = new Disk(before, dice);
  const bytes = acts.at(-1)?.to ?? 0;
  let done = 0;

  function cutAt(place: number, leftover: Leftover): Image {
    for (let next = acts[done]; next !== undefined && next.to <= place; next = acts[++done]) disk.take(next);
    return disk.cut(leftover);
  }

  return {
    bytes,
    syncs: acts.filter(({ kind }) => kind === 'sync').map((act) => ({ name: nameOf(acts, act.file), at: act.to })),
    failedSyncs: acts.filter(({ kind }) => kind === 'failed sync').length,
    cutAt,
    mistaken(found) {
      const last = acts.at(-1);
      const whole = cutAt(bytes, 'all');
      const names = new Set([...whole.keys(), ...found.keys()]);
      return [...names].filter((name) => {
        const file = new GrowingBytes(found.get(name) ?? Buffer.alloc(0));
        // The process may have died between the record of an act and the act.
        if (last !== undefined && changesBytes(last) && name === nameOf(acts, last.file)) file.apply(last);
        return !whole.has(name) || !found.has(name) || whole.get(name)?.equals(file.whole()) === false;
      });
    },
  };
}

function nameOf(acts: readonly Act[], file: number): string {
  const named = acts.find((act) => act.file === file && (act.kind === 'exists' || act.kind === 'create'));
  return named === undefined ? '.' : named.bytes.toString();
}

function changesBytes({ kind }: Act): boolean {
  return kind === 'write' || kind === 'truncate';
}

/** How long the trace is by now: what is known now has happened before this place. */
export function traceBytes(file: string): number {
  return statSync(file).size;
}

/** The last act may have been cut off with the process: then it has not happened. */
function actsIn(trace: Buffer): Act[] {
  const acts: Act[] = [];
  for (let from = 0; from + HEADER_BYTES <= trace.length; ) {
    const start = from + HEADER_BYTES;
    const to = start + Number(trace.readBigUInt64LE(from + 16));
    if (to > trace.length) break;
    const kind = KINDS[trace.readUInt32LE(from)] ?? '';
    const act = { kind, file: trace.readUInt32LE(from + 4), place: Number(trace.readBigUInt64LE(from + 8)) };
    acts.push({ ...act, bytes: trace.subarray(start, to), from, to });
    if (kind === 'unfollowed' || kind === '') throw new Error(`The trace holds ${trace.toString('utf8', start, to)}.`);
    from = to;
  }
  return acts;
}

/** A disk with a cache: what it holds for certain, and what was asked of it since. */
class Disk {
  readonly #files = new Map<number, CachedFile>();
  /** Which file stands under a name for certain. */
  readonly #names = new Map<string, number>();
  #unsyncedNames: Act[] = [];
  readonly #before: Image;
  readonly #dice: Dice;

  constructor(before: Image, dice: Dice) {
    this.#before = before;
    this.#dice = dice;
    for (const [index, [name, bytes]] of [...before].entries()) {
      // Until the process opens it, it goes by a number that no process gives.
      this.#names.set(name, -1 - index);
      this.#files.set(-1 - index, new CachedFile(bytes));
    }
  }

  take(act: Act): void {
    switch (act.kind) {
      case 'exists':
        this.#files.set(act.file, new CachedFile(this.#before.get(act.bytes.toString()) ?? Buffer.alloc(0)));
        this.#names.set(act.bytes.toString(), act.file);
        break;
      case 'create':
        this.#files.set(act.file, new CachedFile(Buffer.alloc(0)));
        this.#unsyncedNames.push(act);
        break;
      case 'unlink':
        this.#unsyncedNames.push(act);
        break;
      case 'write':
      case 'truncate':
        this.#files.get(act.file)?.take(act);
        break;
      case 'sync':
        if (act.file === DIRECTORY) this.#syncNames(act.place);
        else this.#files.get(act.file)?.sync(act.place);
        break;
      case 'failed sync':
        this.#files.get(act.file)?.lose(act.place, this.#dice);
    }
  }

  cut(leftover: Leftover): Image {
    const dice = this.#dice;
    const names = new Map(this.#names);
    const kept = leftover === 'any sectors' ? 'the oldest' : leftover;
    for (const act of oldest(this.#unsyncedNames, kept, dice)) rename(names, act);
    const found = [...names].map(([name, file]) => [name, this.#files.get(file)?.cut(leftover, dice)] as const);
    return new Map(found.map(([name, bytes]) => [name, bytes ?? Buffer.alloc(0)]));
  }

  #syncNames(covered: number): void {
    for (const act of this.#unsyncedNames) if (act.from < covered) rename(this.#names, act);
    this.#unsyncedNames = this.#unsyncedNames.filter(({ from }) => from >= covered);
  }
}

function rename(names: Map<string, number>, { kind, file, bytes }: Act): void {
  if (kind === 'create') names.set(bytes.toString(), file);
  else names.delete(bytes.toString());
}

class CachedFile {
  readonly #bytes: GrowingBytes;
  #unsynced: Act[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = new GrowingBytes(bytes);
  }

  take(act: Act): void {
    this.#unsynced.push(act);
  }

  sync(covered: number): void {
    for (const act of this.#unsynced) if (act.from < covered) this.#bytes.apply(act);
    this.#unsynced = this.#unsynced.filter(({ from }) => from >= covered);
  }

  /** What a failed sync has dropped may have reached the disk or not, and no later sync writes it. */
  lose(covered: number, dice: Dice): void {
    for (const act of this.#unsynced) if (act.from < covered) this.#bytes.applySectors(act, dice);
    this.#unsynced = this.#unsynced.filter(({ from }) => from >= covered);
  }

  cut(leftover: Leftover, dice: Dice): Buffer {
    const left = new GrowingBytes(this.#bytes.whole());
    if (leftover === 'any sectors') for (const act of this.#unsynced) left.applySectors(act, dice);
    else for (const act of oldest(this.#unsynced, leftover, dice)) left.apply(act);
    return left.whole();
  }
}

/** Bytes in twice the room that they need, so that appending to them does not copy them each time. */
class GrowingBytes {
  #room: Buffer;
  #size: number;

  constructor(bytes: Buffer) {
    this.#room = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  apply({ kind, place, bytes }: Act): void {
    if (kind === 'write') this.#write(place, bytes);
    else this.#truncate(place);
  }

  /** Each sector of it, or not: so that where several acts went to one sector, it may be as any of them left it. */
  applySectors({ kind, place, bytes }: Act, dice: Dice): void {
    if (kind === 'truncate') {
      if (dice.below(2) === 0) this.#truncate(place);
      return;
    }
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + SECTOR_BYTES - ((place + from) % SECTOR_BYTES));
      if (dice.below(2) === 0) this.#write(place + from, bytes.subarray(from, to));
      from = to;
    }
  }

  whole(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  #write(place: number, bytes: Buffer): void {
    const end = place + bytes.length;
    if (end > this.#size) this.#truncate(end);
    bytes.copy(this.#room, place);
  }

  #truncate(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(2 * size);
      this.#room.copy(room, 0, 0, this.#size);
      this.#room = room;
    }
    this.#room.fill(0, Math.min(size, this.#size), Math.max(size, this.#size));
    this.#size = size;
  }
}

function oldest(acts: readonly Act[], leftover: Exclude<Leftover, 'any sectors'>, dice: Dice): readonly Act[] {
  if (leftover === 'nothing') return [];
  return leftover === 'all' ? acts : acts.slice(0, dice.below(acts.length + 1));
}

export function readImage(dir: string): Image {
  const names = readdirSync(dir).filter((name) => !name.endsWith('-shm'));
  return new Map(names.map((name) => [name, readFileSync(path.join(dir, name))]));
}

export function writeImage(dir: string, image: Image): void {
  mkdirSync(dir, { recursive: true });
  for (const [name, bytes] of image) writeFileSync(path.join(dir, name), bytes);
}
