import type { Task } from '../../../src/model/task.ts';
import { MAX_ATTEMPTS } from '../agents/script.ts';
import { pass } from '../pass.ts';
import { seedOf } from '../seed.ts';
import { answerQuestions } from './answerer.ts';
import { cancelTasks } from './canceller.ts';
import { createTasks, type NewTask } from './creator.ts';
import { type Field, read } from './field.ts';
import { readPages } from './page-reader.ts';
import { readStream, type StreamReader } from './stream-reader.ts';

const CREATORS = 3;
const ANSWERERS = 3;
const TASK_READERS = 12;
const LOOK_MS = 250;
/** `?types=` of the reader that sees only some. */
const SOME_TYPES = 'question.*,task.completed,chaos.heard';

export interface FleetOptions {
  field: Field;
  seed: number;
  tasks: number;
  /** The longest time that a client lets pass between two new tasks. */
  pauseMs: number;
  /** What the input of every task has beside its seed and ticket. */
  input: { spawns: boolean; retries: boolean; effects: string };
}

/** All clients of a round. */
export interface Fleet {
  /** Settles when every task that was to be has been acknowledged. */
  readonly created: Promise<unknown>;
  /** Lets every reader read on to the end of what there is. */
  finishReading(): Promise<unknown>;
  /** Settles when every client has left, after `over`. */
  readonly left: Promise<unknown>;
}

export function startFleet({ field, seed, tasks, pauseMs, input }: FleetOptions): Fleet {
  const dice = field.diceFor('fleet');
  const wanted = Array.from({ length: tasks }, (_, n): NewTask => {
    const ticket = `ticket-${n + 1}`;
    const concurrencyKey = dice.below(6) === 0 ? `lane-${dice.below(3)}` : null;
    const own = { ...input, seed: seedOf(seed, 'task', n), ticket, depth: 0 };
    const retrying = input.retries ? { maxAttempts: MAX_ATTEMPTS } : {};
    const body = { agent: 'scripted', input: own, concurrencyKey, priority: dice.below(3), ...retrying };
    return { ticket, body };
  });
  const readers = [
    readStream(field, { reader: 'from the beginning', path: '/v1/events', start: '0' }),
    readStream(field, { reader: 'slow', path: '/v1/events', start: '0', isSlow: true }),
    readStream(field, { reader: 'what is unfinished', path: '/v1/events', start: null }),
    readStream(field, { reader: 'some types', path: `/v1/events?types=${SOME_TYPES}`, start: '0' }),
    readPages(field, 'by pages'),
  ];
  const created = Promise.all(
    Array.from({ length: CREATORS }, (_, creator) => {
      const own = wanted.filter((_, n) => n % CREATORS === creator);
      return createTasks(field, `creator-${creator + 1}`, own, pauseMs);
    }),
  );
  const watching = watchTasks(field, readers);
  const others = [
    ...Array.from({ length: ANSWERERS }, (_, n) => answerQuestions(field, `answerer-${n + 1}`)),
    cancelTasks(field, 'canceller'),
  ];

  return {
    created,
    async finishReading() {
      await watching;
      return Promise.all(readers.map((reader) => reader.finish()));
    },
    left: Promise.all([created, watching, ...others]),
  };
}

/** Opens the streams of some tasks, parents and children, as they turn up. */
async function watchTasks(field: Field, readers: StreamReader[]): Promise<void> {
  const dice = field.diceFor('watcher');
  const seen = new Set<string>();
  let open = 0;
  while (!field.calm.aborted && open < TASK_READERS) {
    await pass(LOOK_MS, field.calm);
    const page = await read<{ items: Task[] }>(field, '/v1/tasks?limit=20');
    for (const { id } of page?.items ?? []) {
      if (seen.has(id) || open === TASK_READERS) continue;
      seen.add(id);
      if (dice.below(3) > 0) continue;
      open += 1;
      const start = dice.below(2) === 0 ? null : '0';
      readers.push(readStream(field, { reader: `of task ${id}`, path: `/v1/tasks/${id}/events`, start }));
    }
  }
}
