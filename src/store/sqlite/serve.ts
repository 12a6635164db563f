import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { failpoint } from '../../failpoint.ts';
import { type Answer, packAnswer, packFailure, type Reply, type Request, unpackCommit } from './request.ts';
import { isFull, type Writer } from './writer.ts';

/** Above this many rows a transaction takes longer for each of them, and everyone in it waits for all. */
const MAX_ROWS = 250;

/** For what was asked before its caller knew that there was no space: it must not overtake what failed. */
const TOO_LATE: Answer = { ok: false, failure: { code: 'storage_full', error: null } };

type CommitRequest = Extract<Request, { kind: 'commit' }>;

/**
 * Serves a writer over a port. Whatever has arrived while the disk was busy goes into the next transaction together: the
 * more there is to do, the larger the groups, without a timer.
 */
export function serveWriter(port: MessagePort, writer: Writer): void {
  const inbox: Request[] = [];
  let shortages = 0;

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
        reply(request.shortages < shortages ? [TOO_LATE] : commit([request, ...takeGroup(request)]));
        failpoint?.('answered-not-checkpointed');
        checkpoint();
        return;
      case 'agents':
        reply([describe(request.agents)]);
        return;
      case 'close':
        writer.close();
        port.close();
    }
  }

  function commit(group: CommitRequest[]): Answer[] {
    const commits = group.map(unpackCommit);
    const settled = writer.commitAll(commits);
    failpoint?.('committed-not-answered');
    if (settled.some(isFull)) shortages += 1;
    return settled.map((each, index) => packAnswer(each, commits[index]?.calls ?? []));
  }

  function checkpoint(): void {
    const heldBytes = writer.checkpoint();
    if (heldBytes !== null) port.postMessage({ shortages, answers: [], heldBytes } satisfies Reply);
  }

  function reply(answers: Answer[]): void {
    port.postMessage({ shortages, answers, heldBytes: null } satisfies Reply);
  }

  /** Takes the commits that fit into the transaction of the first. */
  function takeGroup(first: CommitRequest): CommitRequest[] {
    const group: CommitRequest[] = [];
    let rows = first.rows;
    for (let next = inbox[0]; next?.kind === 'commit'; next = inbox[0]) {
      rows += next.rows;
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
