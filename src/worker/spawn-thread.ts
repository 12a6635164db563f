import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';
import type { ThreadOptions } from './protocol.ts';

/**
 * Starts the thread that runs beside this file: the built one from built code, else the source through tsx, which needs
 * a line of JavaScript to begin with, since `execArgv: ['--import', 'tsx']` does not reach threads on Node 20.
 *
 * The two talk over a port of their own: what agents and their libraries send to `parentPort` is not for us.
 *
 * @param heapMb the bound of its old generation, in MiB
 */
export function spawnThread(
  options: Omit<ThreadOptions, 'port'>,
  heapMb: number,
): { thread: Worker; port: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  const thread = startThread({
    workerData: { ...options, port: port2 } satisfies ThreadOptions,
    transferList: [port2],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  return { thread, port: port1 };
}

function startThread(settings: WorkerOptions): Worker {
  if (import.meta.url.endsWith('.js')) return new Worker(new URL('./thread.js', import.meta.url), settings);
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = new URL('./thread.ts', import.meta.url).href;
  const entry = `import(${JSON.stringify(tsx)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(thread)}); })`;
  return new Worker(entry, { ...settings, eval: true });
}
