/** Asks a server for tasks, in a process of its own so that it can have a core of its own. Started by `fork`. */
import { isTaken, openRequester } from './requester.ts';

export interface LoadCommand {
  url: string;
  ms: number;
  /**
   * `closed`: so many clients, each of which waits until its task is done. `open`: so many requests a second, whether or not
   * answers come.
   */
  load: { kind: 'closed'; clients: number } | { kind: 'open'; perSecond: number };
}

/** One request, in ms since the load began. Its latency counts from when it was due, not from when it was sent. */
export interface Sent {
  dueAt: number;
  /** What is later than due is the generator's own doing. */
  sentAt: number;
  answeredAt: number;
  /** 0 when the connection broke. */
  status: number;
  /** Of the task; null for what was refused. */
  taskId: string | null;
  /** Whether a refusal said when to come back. */
  hasRetryAfter: boolean;
}

const BODY = JSON.stringify({ agent: 'nothing', input: null });
const TURN_MS = 2;
/** As clients have them that ask all the time. */
const CONNECTIONS = 1500;

async function run({ url, ms, load }: LoadCommand): Promise<Sent[]> {
  // What is only taken, and not done, would be no capacity.
  const wait = load.kind === 'closed' ? '?wait=30' : '';
  const requester = openRequester(url, `POST /v1/tasks${wait}`, BODY);
  await requester.warm(load.kind === 'open' ? CONNECTIONS : load.clients);
  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;
  const sent: Promise<Sent>[] = [];

  async function send(dueAt: number): Promise<Sent> {
    const { sentAt, status, head, body } = await requester.ask();
    return {
      dueAt,
      sentAt: sentAt - startedAt,
      answeredAt: now(),
      status,
      taskId: isTaken(status) ? (/"id":"(\w+)"/.exec(body)?.[1] ?? null) : null,
      hasRetryAfter: /\r\nretry-after: \d+/i.test(head),
    };
  }

  async function client(): Promise<void> {
    for (let at = now(); at < ms; at = now()) {
      sent.push(send(at));
      await sent.at(-1);
    }
  }

  function onSchedule(perSecond: number): Promise<void> {
    const everyMs = 1000 / perSecond;
    return new Promise((resolve) => {
      const turns = setInterval(() => {
        const at = now();
        while (sent.length * everyMs <= Math.min(at, ms)) sent.push(send(sent.length * everyMs));
        if (at < ms) return;
        clearInterval(turns);
        resolve();
      }, TURN_MS);
    });
  }

  if (load.kind === 'open') await onSchedule(load.perSecond);
  else await Promise.all(Array.from({ length: load.clients }, client));
  const all = await Promise.all(sent);
  requester.close();
  return all;
}

process.on('message', async (command: LoadCommand) => {
  process.send?.(await run(command));
});
process.on('disconnect', () => process.exit(0));
