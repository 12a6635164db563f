import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from './connection.ts';
import type { Reply } from './request.ts';
import { serveWriter } from './serve.ts';
import { createWriter } from './writer.ts';

/** What the thread is started with. */
export interface ThreadData {
  file: string;
  epoch: string;
}

const port = parentPort;
if (port === null) throw new Error('The writer runs in a thread of its own; open a store instead.');
const { file, epoch }: ThreadData = workerData;

serveWriter(port, createWriter(openConnection(file, 'write'), epoch, Date.now));
port.postMessage({ shortages: 0, answers: [{ ok: true, batch: null }], heldBytes: null } satisfies Reply);
