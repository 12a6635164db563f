import { symlinkSync } from 'node:fs';
import { mountSmallDisk } from '../support/small-disk.ts';
import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';
import { passEvents } from './pass-events.ts';

/** What came of one cycle, in ms. */
export interface FillCycle {
  /** From where the disk was full to the first request that was refused for it. */
  refusedAfterMs: number;
  /** From where there was space again to the first event that was told. */
  recoveredAfterMs: number;
}

const DISK_BYTES = 8 * 1024 * 1024;
const MOST_LEFT_BYTES = 16 * 1024;
/** So much is written between two cycles, so that each finds everything under way. */
const EVENTS_BETWEEN = 30;
const MOST_MS_FULL = 500;
const LOOK_MS = 10;
const PATIENCE_MS = 30_000;

/**
 * Fills a disk of 8 MB under load, until somebody was refused for it, and gives the space back; so many times, and the
 * server is never started again.
 *
 * @param onCycle told of each cycle that was whole
 */
export function fillCycles(cycles: number, onCycle: (cycle: FillCycle) => void): MakeNemesis {
  return ({ dataDir, dice, history }) => {
    const disk = mountSmallDisk(DISK_BYTES);
    if (disk === null) throw new Error('This needs the right to mount a tmpfs.');
    symlinkSync(disk.dir, dataDir);

    const wasRefused = (since: number) =>
      history.requests.some(({ tries }) => tries.some(({ at, code }) => at >= since && code === 'storage_full'));

    return {
      async run(server, until) {
        await passEvents(server.url, EVENTS_BETWEEN, PATIENCE_MS, until);
        for (let cycle = 1; cycle <= cycles; cycle++) {
          const full = Date.now();
          const leaveBytes = dice.below(MOST_LEFT_BYTES);
          while (!wasRefused(full)) {
            // The server gives the space of its WAL back when it runs short.
            disk.fill(leaveBytes);
            if (Date.now() - full > PATIENCE_MS) throw new Error(`Cycle ${cycle}: nobody was refused on a full disk.`);
            await pass(LOOK_MS, until);
          }
          const refusedAfterMs = Date.now() - full;
          await pass(dice.below(MOST_MS_FULL), until);
          const freed = Date.now();
          disk.free();
          const recovers = await passEvents(server.url, 0, PATIENCE_MS, until);
          if (!recovers) throw new Error(`Cycle ${cycle}: nothing was told after there was space again.`);
          onCycle({ refusedAfterMs, recoveredAfterMs: Date.now() - freed });
          await passEvents(server.url, EVENTS_BETWEEN, PATIENCE_MS, until);
        }
      },
      async close() {
        disk.unmount();
      },
    };
  };
}
