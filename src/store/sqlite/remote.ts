import { Worker } from 'node:worker_threads';
import { failpoint } from '../../failpoint.ts';
import type { Batch } from '../../model/batch.ts';
import { type AgentDescription, StoreError } from '../store.ts';
import { type PackedBatch, packCommit, type Reply, type Request, unpackBatch, unpackFailure } from './request.ts';
import type { ThreadData } from './thread.ts';
import type { Commit } from './writer.ts';

/** A writer on another thread. Its promises settle in the order of the calls. */
export interface RemoteWriter {
  commit(commit: Commit): Promise<Batch>;
  describeAgents(agents: readonly AgentDescription[]): Promise<void>;
  /** Lets the thread end when it has done all that it was asked before. */
  close(): Promise<void>;
}

interface Waiter {
  resolve(batch: PackedBatch | null): void;
  reject(error: unknown): void;
}

/**
 * Starts the writer's thread.
 *
 * @param onHeld told as `StoreWatcher.onLogHeld` is
 * @throws StoreError `storage_failed` when it cannot open the database
 */
export async function startRemoteWriter(data: ThreadData, onHeld: (bytes: number) => void): Promise<RemoteWriter> {
  const worker = startThread(data);
  const waiters: Waiter[] = [];
  let outbox: Request[] = [];
  let shortages = 0;
  let dead: Error | null = null;

  worker.on('message', ({ shortages: known, answers, heldBytes }: Reply) => {
    failpoint?.('reply-not-taken');
    shortages = known;
    if (heldBytes !== null) onHeld(heldBytes);
    for (const answer of answers) {
      const waiter = waiters.shift();
      if (answer.ok) waiter?.resolve(answer.batch);
      else waiter?.reject(unpackFailure(answer.failure));
    }
  });
  worker.on('error', die);
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      die(new Error(`The writer's thread has ended with code ${code}.`));
      resolve();
    });
  });

  function die(cause: unknown): void {
    const failure = new StoreError('storage_failed', cause);
    dead ??= failure;
    for (const waiter of waiters.splice(0)) waiter.reject(failure);
  }

  function answered(): Promise<PackedBatch | null> {
    return new Promise((resolve, reject) => waiters.push({ resolve, reject }));
  }

  function ask(request: Request): Promise<PackedBatch | null> {
    if (dead !== null) return Promise.reject(dead);
    send(request);
    return answered();
  }

  /** What is asked within one turn goes over in one message. */
  function send(request: Request): void {
    if (outbox.length === 0) queueMicrotask(flush);
    outbox.push(request);
  }

  function flush(): void {
    failpoint?.('commits-not-posted');
    worker.postMessage(outbox);
    outbox = [];
  }

  await answered();
  return {
    async commit(commit) {
      const batch = await ask(packCommit(commit, shortages));
      if (batch === null) throw new Error('A commit was answered without a batch.');
      return unpackBatch(batch, commit.calls);
    },
    async describeAgents(agents) {
      await ask({ kind: 'agents', agents });
    },
    async close() {
      if (dead === null) send({ kind: 'close' });
      dead ??= new Error('The store is closed.');
      await exited;
    },
  };
}

/** Built code starts as it is; from source the thread registers `tsx` first. */
function startThread(workerData: ThreadData): Worker {
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./thread.js', import.meta.url), { execArgv: [], workerData });
  const tsx = import.meta.resolve('tsx/esm/api');
  const thread = new URL('./thread.ts', import.meta.url).href;
  const start = `import('${tsx}').then(({ register }) => { register(); return import('${thread}'); })`;
  return new Worker(start, { eval: true, execArgv: [], workerData });
}
