import { seqOf } from '../../support/api.ts';
import type { Block, Reading } from '../history.ts';
import { isTerminal, type Logged } from '../story.ts';
import type { Finding, Rule } from './rule.ts';

const SIGNALS = ['caught-up', 'reset', 'end', 'bye'];

export const exactReadings: Rule = {
  name: 'who resumes gets exactly the log, each event once and in its order, and never a reset',
  *judge({ readings, log, mayReset }) {
    for (const reading of readings) {
      const blocks = reading.connections.flatMap((connection) => connection.blocks);
      yield* judgeStatuses(reading, log);
      const reset = blocks.find(({ event }) => event === 'reset');
      if (reset !== undefined && mayReset) continue;
      if (reset !== undefined) yield { text: `The reader "${reading.reader}" was told a reset.`, evidence: reset };

      const told = blocks.filter(isEvent).map(({ id }) => seqOf(id));
      const wanted = wantedOf(reading, log).map(({ seq }) => seq);
      const place = wanted.findIndex((seq, index) => seq !== told[index]);
      if (place < 0 && told.length === wanted.length) continue;
      const at = place < 0 ? wanted.length : place;
      const text = `The reader "${reading.reader}" was told ${told[at] ?? 'nothing'} where ${wanted[at] ?? 'nothing'} comes next.`;
      yield {
        text,
        evidence: { before: told.slice(Math.max(0, at - 5), at), told: told.length, wanted: wanted.length },
      };
    }
  },
};

/** A stream gives 200, and 204 to who has seen its end, also if `end` itself was cut off. */
function* judgeStatuses({ reader, path, connections }: Reading, log: readonly Logged[]): Iterable<Finding> {
  const last = log.find((event) => isTerminal(event) && path === `/v1/tasks/${event.taskId}/events`);
  let hasEnded = false;
  for (const { asked, status, blocks } of connections) {
    hasEnded ||= last !== undefined && asked === last.id;
    if (status !== (hasEnded ? 204 : 200)) {
      yield { text: `The reader "${reader}" got ${status} for ${path} at ${asked}.`, evidence: { hasEnded } };
    }
    hasEnded ||= blocks.some(({ event }) => event === 'end');
  }
}

function isEvent({ event }: Block): boolean {
  return event === null || !SIGNALS.includes(event);
}

/** The events that a reading's stream covers, from where it began to the end of the log. @see docs/protocol.md §5.2 */
function wantedOf(reading: Reading, log: readonly Logged[]): Logged[] {
  const { pathname, searchParams } = new URL(reading.path, 'http://any');
  const [, taskId] = /^\/v1\/tasks\/(.+)\/events$/.exec(pathname) ?? [];
  const types = searchParams.get('types')?.split(',');
  const roots = rootsOf(log);
  // A root's stream tells its tree, a child's its own.
  const covered = taskId === undefined || roots.get(taskId) === taskId ? roots : null;
  const begun = log.filter(beginning(reading, log, roots, taskId !== undefined));
  return begun.filter((event) => {
    const isOfTask = taskId === undefined || (covered?.get(event.taskId) ?? event.taskId) === taskId;
    return isOfTask && (types === undefined || types.some((type) => matches(event.type, type)));
  });
}

function matches(type: string, wanted: string): boolean {
  return wanted.endsWith('.*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** Whether an event comes behind where a reading began: the owner's stream without a cursor retells what is unfinished. */
function beginning(
  { connections }: Reading,
  log: readonly Logged[],
  roots: ReadonlyMap<string, string>,
  isOfTask: boolean,
): (event: Logged) => boolean {
  const begun = connections.find(({ blocks }) => blocks.some(({ id }) => id !== null));
  const first = begun?.blocks.find(({ id }) => id !== null);
  if (isOfTask || begun === undefined || first === undefined || begun.asked !== null) return () => true;
  // The log was empty.
  if (first.id === '0') return () => true;
  const [, seq, until] = (first.id ?? '').split('.').map(Number);
  if (until === undefined) return (event) => event.seq > Number(seq) - (isEvent(first) ? 1 : 0);
  const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event.seq]));
  const endOf = ({ taskId }: Logged) => ends.get(roots.get(taskId) ?? taskId) ?? Number.POSITIVE_INFINITY;
  return (event) => event.seq > until || endOf(event) > until;
}

/** The task at the top of each task's tree. */
function rootsOf(log: readonly Logged[]): Map<string, string> {
  const roots = new Map<string, string>();
  for (const { type, taskId, data } of log) {
    if (type === 'task.created') roots.set(taskId, roots.get(data.parentId) ?? taskId);
  }
  return roots;
}
