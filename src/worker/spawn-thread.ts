import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';
import type { ThreadOptions } from './protocol.ts';
import { threadEnvironment } from './thread-environment.ts';

const MIB = 1024 * 1024;

/**
 * How much more heap than it may hold a thread can fill before the engine of JavaScript steps in, which for want of one
 * large block ends the whole process. So the pool has to see it first. More than 2 GiB in all would make that engine
 * collect garbage too late.
 */
const HEADROOM_MB = 960;

/**
 * Starts the thread that runs beside this file: the built one from built code, else the source through tsx, which needs
 * a line of JavaScript to begin with, since `execArgv: ['--import', 'tsx']` does not reach threads on Node 20.
 *
 * The two talk over a port of their own: what agents and their libraries send to `parentPort` is not for us.
 *
 * @param memoryMb how much it may hold, heap and Buffers together, in MiB; it says itself when that is too much
 * @param agentEnv what of the environment it gets beside what every thread gets, see {@link threadEnvironment}
 * @returns `runner`: holds the index of the copy whose code runs, 0 for none
 */
export function spawnThread(
  agentModules: string[],
  memoryMb: number,
  agentEnv: readonly string[],
): { thread: Worker; port: MessagePort; runner: Int32Array } {
  const { port1, port2 } = new MessageChannel();
  const runner = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = startThread({
    workerData: { agentModules, port: port2, runner, memoryBytes: memoryMb * MIB } satisfies ThreadOptions,
    transferList: [port2],
    execArgv: [],
    env: threadEnvironment(process.env, agentEnv),
    resourceLimits: { maxOldGenerationSizeMb: memoryMb + HEADROOM_MB },
  });
  return { thread, port: port1, runner };
}

function startThread(settings: WorkerOptions): Worker {
  if (import.meta.url.endsWith('.js')) return new Worker(new URL('./thread.js', import.meta.url), settings);
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = new URL('./thread.ts', import.meta.url).href;
  const entry = `import(${JSON.stringify(tsx)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(thread)}); })`;
  return new Worker(entry, { ...settings, eval: true });
}
