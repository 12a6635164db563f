import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Answer, packAnswer, packFailure, type Request, rowsOf, unpackCommit } from './message.ts';
import type { Writer } from './writer.ts';

/** Above this many rows a transaction takes longer for each of them, and everyone in it waits for all. */
const MAX_ROWS = 250;

type CommitRequest = Extract<Request, { kind: 'commit' }>;

/**
 * Serves a writer over a port. Whatever has arrived while the disk was busy goes into the next transaction together: the
 * more there is to do, the larger the groups, without a timer.
 */
export function serveWriter(port: MessagePort, writer: Writer): void {
  const inbox: Request[] = [];

  port.on('message', (requests: Request[]) => {
    inbox.push(...requests);
    for (let next = inbox.shift(); next !== undefined; next = inbox.shift()) {
      receiveAll();
      handle(next);
    }
  });

  function receiveAll(): void {
    for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) {
      inbox.push(...more.message);
    }
  }

  function handle(request: Request): void {
    switch (request.kind) {
      case 'commit':
        port.postMessage(writer.commitAll([request, ...takeGroup(request)].map(unpackCommit)).map(packAnswer));
        writer.checkpoint();
        return;
      case 'agents':
        port.postMessage([describe(request.agents)]);
        return;
      case 'close':
        writer.close();
        port.close();
    }
  }

  /** Takes the commits that fit into the transaction of the first. */
  function takeGroup(first: CommitRequest): CommitRequest[] {
    const group: CommitRequest[] = [];
    let rows = rowsOf(first);
    for (let next = inbox[0]; next?.kind === 'commit'; next = inbox[0]) {
      rows += rowsOf(next);
      if (rows > MAX_ROWS) break;
      group.push(next);
      inbox.shift();
    }
    return group;
  }

  function describe(agents: Extract<Request, { kind: 'agents' }>['agents']): Answer {
    try {
      writer.describeAgents(agents);
      return { ok: true, batch: null };
    } catch (error) {
      return { ok: false, failure: packFailure(error) };
    }
  }
}
