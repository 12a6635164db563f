/**
 * Loaded before the server (`--import`): on SIGUSR2 it collects garbage as far as that goes and writes what is still held
 * into the file that `FUZZ_MEMORY_FILE` names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const file = process.env.FUZZ_MEMORY_FILE ?? '';
/** What a finalizer lets go the next turn collects. */
const TURNS = 4;

if (isMainThread && file !== '') {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  process.on('SIGUSR2', async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.part`, file);
  });
}
