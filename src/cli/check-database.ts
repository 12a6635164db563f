import { type Inspected, inspectDatabase } from '../store/postgres/inspect.ts';

/**
 * Says what a database holds, which servers live on it, and what is wrong. They may go on meanwhile.
 *
 * @returns the exit code: 0 when nothing is
 */
export async function checkDatabase(url: string): Promise<number> {
  const found = await inspectDatabase(url);
  process.stdout.write(`${linesOf(found).join('\n')}\n`);
  const wrong = [...found.unsafe, ...found.damage];
  for (const line of wrong) process.stderr.write(`error: ${line}\n`);
  return wrong.length === 0 ? 0 : 1;
}

function linesOf(found: Inspected): string[] {
  const server = `${found.name}: PostgreSQL ${found.version}.`;
  if (found.pending === null)
    return [server, 'It has no tables of Holdfast yet; the first server to start makes them.'];
  if (found.pending > 0) return [server, `${found.pending} migrations are run when a server of this version starts.`];
  const statuses = [...found.tasks].map(([status, count]) => `${count} ${status}`).join(', ');
  return [
    `${server} Its tables are those of this version, with ${Math.ceil(found.bytes / 1024 / 1024)} MiB.`,
    found.epoch === null ? 'No server has ever started on it.' : `Epoch ${found.epoch}.`,
    ...found.nodes.map(nodeLine),
    `${found.owners} owners; tasks: ${statuses === '' ? 'none' : statuses}; ${found.pendingQuestions} pending questions; about ${found.events} events.`,
  ];
}

function nodeLine({ id, leaseMs, deadMs, held }: Inspected['nodes'][number]): string {
  const tasks = held === 0 ? '' : `, with ${held} ${held === 1 ? 'task' : 'tasks'}`;
  if (leaseMs !== null) return `Node ${id} lives for ${seconds(leaseMs)} if nothing more is heard of it${tasks}.`;
  if (deadMs === null) return `Node ${id} is late, and will be taken for dead${tasks}.`;
  return `Node ${id} has been gone for ${seconds(deadMs)}${tasks === '' ? '' : `${tasks} to be taken over`}.`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
