import { Worker } from 'node:worker_threads';
import type { ThreadOptions } from './protocol.ts';

/**
 * Starts the thread that runs beside this file: the built one from built code, else the source through tsx, which needs
 * a line of JavaScript to begin with, since `execArgv: ['--import', 'tsx']` does not reach threads on Node 20.
 *
 * @param heapMb the bound of its old generation, in MiB
 */
export function spawnThread(options: ThreadOptions, heapMb: number): Worker {
  const settings = { workerData: options, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMb } };
  if (import.meta.url.endsWith('.js')) return new Worker(new URL('./thread.js', import.meta.url), settings);
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = new URL('./thread.ts', import.meta.url).href;
  const entry = `import(${JSON.stringify(tsx)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(thread)}); })`;
  return new Worker(entry, { ...settings, eval: true });
}
