import { symlinkSync } from 'node:fs';
import { mountSmallDisk } from '../support/small-disk.ts';
import type { MakeNemesis } from './nemesis.ts';
import { pass } from './pass.ts';

const DISK_BYTES = 48 * 1024 * 1024;
const MOST_LEFT_BYTES = 128 * 1024;
const MOST_MS = 2500;

/** Fills the disk under load, a few times, and gives the space back; once in a while the server dies in between. */
export const diskFull: MakeNemesis = ({ dataDir, dice }) => {
  const disk = mountSmallDisk(DISK_BYTES);
  if (disk === null) throw new Error('This needs the right to mount a tmpfs.');
  symlinkSync(disk.dir, dataDir);
  return {
    async run(server, until) {
      for (let times = 3; times > 0 && !until.aborted; times--) {
        await pass(dice.below(MOST_MS), until);
        disk.fill(dice.below(MOST_LEFT_BYTES));
        await pass(dice.below(MOST_MS), until);
        const dies = dice.below(3) === 0;
        if (dies) await server.kill();
        disk.free();
        if (dies) await server.start();
      }
    },
    async close() {
      disk.unmount();
    },
  };
};
