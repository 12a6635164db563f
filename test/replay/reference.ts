import type { ChildHandle, TaskHandle } from '../../src/model/agent.ts';
import type { StepFailure } from '../../src/model/journal.ts';
import type { Json } from '../../src/model/json.ts';
import { seededRandom, seededUuid } from '../../src/worker/seeded.ts';
import { errorText, observe, type TestAgent } from './agent-side.ts';
import type { MirrorRow } from './journal-mirror.ts';
import type { Incarnation } from './trace.ts';

/** What a task's code was given in all, as the store has it in the end. */
export interface Given {
  input: Json;
  seed: string;
  originAt: number;
  attempt: number;
  /** Those that are resolved, by `ord`. */
  rows: readonly MirrorRow[];
  /** How many events were taken of it outside steps. */
  emits: number;
}

interface Waiting {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/**
 * Runs an agent's code over a handle that knows nothing of stores, reports or replays: it has the deliveries, and gives
 * them in their order, one a macrotask.
 *
 * @returns what passed between the code and the handle; without an end when the code did not come to one
 */
export async function predict(agent: TestAgent, given: Given): Promise<Incarnation> {
  const seen: Incarnation = {
    taskId: 'task_reference',
    fence: 0,
    worker: 0,
    cuts: 0,
    rows: [],
    emits: 0,
    trace: [],
    isAlive: () => true,
  };
  const deliveries = new Deliveries(given);
  const [task, side] = observe(deliveries.handle, seen, {
    asksForResults: true,
    raw: () => Promise.resolve(),
    begin: () => 1,
    fresh: () => 0,
    drawn: () => {},
  });
  void Promise.resolve()
    .then(() => agent(task, side))
    .then(
      (value) => seen.trace.push({ at: 'end', ok: true, value: JSON.stringify(value ?? null) }),
      (error) => seen.trace.push({ at: 'end', ok: false, value: errorText(error) }),
    );
  const hasEnded = () => seen.trace.some(({ at }) => at === 'end');
  do await new Promise<void>((resolve) => setImmediate(resolve));
  while (!hasEnded() && deliveries.next());
  return seen;
}

class Deliveries {
  readonly handle: TaskHandle;
  readonly #given: Given;
  readonly #waiting = new Map<string, Waiting>();
  readonly #emitted: (() => void)[] = [];
  readonly #uses = new Map<string, number>();
  #told = 0;
  #at = 0;
  #now: number;

  constructor(given: Given) {
    this.#given = given;
    this.#now = given.originAt;
    const { seed, attempt, input } = given;
    this.handle = {
      id: 'task_reference',
      input,
      attempt,
      version: '1',
      conversation: null,
      signal: new AbortController().signal,
      step: (name) => this.#ask(this.#keyFor(name)),
      say: (name) => this.#ask(this.#keyFor(name)),
      ask: (name) => this.#ask(this.#keyFor(name)),
      sleep: (name) => this.#ask(this.#keyFor(name)),
      inbox: () => this.#ask(this.#keyFor('inbox')),
      spawn: (name) => this.#spawn(this.#keyFor(name)),
      progress: () => this.#emit(),
      emit: () => this.#emit(),
      now: () => this.#now,
      random: (name) => seededRandom(seed, name, this.#use(`random>${name}`)),
      uuid: (name) => seededUuid(seed, name, this.#use(`uuid>${name}`)),
    };
  }

  /** @returns false when nothing is left to be delivered, or the code does not wait for it */
  next(): boolean {
    const row = this.#given.rows[this.#at];
    if (row !== undefined && this.#told >= (row.emitsDone ?? 0)) return this.#deliver(row);
    const emit = this.#emitted[this.#told];
    if (emit === undefined || this.#told >= this.#given.emits) return false;
    this.#told += 1;
    emit();
    return true;
  }

  #deliver(row: MirrorRow): boolean {
    const waiting = this.#waiting.get(row.key);
    if (waiting === undefined) return false;
    this.#at += 1;
    this.#now = row.at ?? 0;
    const value = JSON.parse(row.value ?? 'null');
    if (row.status === 'failed' && row.kind === 'step') waiting.reject(errorOf(value));
    else waiting.resolve(value as never);
    return true;
  }

  #ask<T>(key: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(key, { resolve, reject });
    });
  }

  async #spawn(key: string): Promise<ChildHandle> {
    const result = this.#ask<Awaited<ReturnType<ChildHandle['result']>>>(`${key}>`);
    const id = await this.#ask<string>(key);
    return { id, result: () => result };
  }

  #emit(): Promise<void> {
    return new Promise((resolve) => this.#emitted.push(resolve));
  }

  #keyFor(name: string): string {
    const use = this.#use(name);
    return use === 1 ? name : `${name}#${use}`;
  }

  #use(name: string): number {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return use;
  }
}

function errorOf({ name, message, fields, cause }: StepFailure): Error {
  const error = new Error(message, cause === null ? undefined : { cause: errorOf(cause) });
  return Object.assign(error, fields, { name });
}
