import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { MakeNemesis, Place } from './nemesis.ts';
import { pass } from './pass.ts';
import { buildShim, failNextSync, type Shim } from './power-cut-shim.ts';
import { type Image, LEFTOVERS, type Leftover, readImage, readTrace, writeImage } from './power-cut-trace.ts';

const MOST_MS = 3000;

/** Cuts the power under load, a few times, and lets the server go on with what the disk has. */
export const powerCut: MakeNemesis = (place) => {
  const disk = new CutDisk(place);
  return {
    boot: () => ({ env: disk.boot() }),
    async run(server, until) {
      for (let cuts = 2 + place.dice.below(2); cuts > 0 && !until.aborted; cuts--) {
        await pass(place.dice.below(MOST_MS), until);
        await server.kill();
        disk.cut(place.dice.pick(LEFTOVERS));
        disk.isWatched = cuts > 1;
        await server.start();
      }
    },
  };
};

/**
 * The control: a disk that says that it has synced the WAL, and has not, so that a cut takes what was acknowledged. A run
 * of it in which every rule holds has proven nothing.
 */
export const lyingDisk: MakeNemesis = (place) => {
  const disk = new CutDisk(place, (name) => name.endsWith('-wal'));
  return {
    mayReset: true,
    boot: () => ({ env: disk.boot() }),
    async run(server, until) {
      await pass(MOST_MS, until);
      await server.kill();
      disk.cut('nothing');
      disk.isWatched = false;
      await server.start();
    },
  };
};

/** Lets a sync fail, of a commit or of a checkpoint: the server must end itself, and nothing of it may have been told. */
export const failingSync: MakeNemesis = (place) => {
  const disk = new CutDisk(place);
  return {
    boot: () => ({ env: disk.boot(), mayEndItself: disk.isWatched }),
    async run(server, until) {
      await pass(place.dice.below(MOST_MS), until);
      const ended = server.ended;
      disk.failNextSync(place.dice.pick(['.db-wal', '.db-wal', '.db']));
      await Promise.race([ended, pass(MOST_MS, until)]);
      await server.kill();
      disk.cut('nothing');
      disk.isWatched = false;
      await server.start();
    },
  };
};

/** The disk below a round's data, in the lives of the server for as long as it is watched. */
class CutDisk {
  /** Whether the next life is to be watched: a cut, or a failed sync, can only be in one that is. */
  isWatched = true;
  readonly #place: Place;
  readonly #lies: (name: string) => boolean;
  readonly #shim: Shim;
  #before: Image = new Map();
  #trace = '';
  #lives = 0;

  /** @param lies of which files a sync does nothing */
  constructor(place: Place, lies: (name: string) => boolean = () => false) {
    const shim = buildShim();
    if (shim === null) throw new Error('This needs Linux, and gcc.');
    this.#place = place;
    this.#lies = lies;
    this.#shim = shim;
  }

  /** @returns the environment of the next life */
  boot(): Record<string, string> {
    if (!this.isWatched) return {};
    const { dir, dataDir } = this.#place;
    mkdirSync(dataDir, { recursive: true });
    this.#before = readImage(dataDir);
    this.#trace = path.join(dir, `trace-${++this.#lives}`);
    return this.#shim.env(dataDir, this.#trace);
  }

  failNextSync(suffix: string): void {
    failNextSync(this.#trace, suffix);
  }

  /** Leaves what a power cut would, now that the process is gone. */
  cut(leftover: Leftover): void {
    const { dataDir, dice } = this.#place;
    const trace = readTrace(this.#trace, this.#before, dice, this.#lies);
    rmSync(dataDir, { recursive: true });
    writeImage(dataDir, trace.cutAt(trace.bytes, leftover));
    rmSync(this.#trace);
  }
}
