import { setTimeout as delay } from 'node:timers/promises';
import type { Dice } from '../support/dice.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { isSignal, type LogEvent, type SseBlock } from '../support/sse-reader.ts';

/** Something that the server has said is so, and how long the trace of its writes was by then. */
export type Told = { at: number } & Fact;

export type Fact =
  | { kind: 'created'; taskId: string; key: string }
  | { kind: 'answered'; questionId: string; answer: string }
  | { kind: 'cancelled'; taskId: string }
  | { kind: 'event'; cursor: string; text: string }
  /** An agent was told that its event is stored. */
  | { kind: 'heard'; taskId: string; n: number };

const OVERLOADED_MS = 100;
const LOOK_AGAIN_MS = 10;

type Tell = (fact: Fact) => void;

/** A task to be, with an input of its own. */
export interface Order {
  agent: string;
  input: unknown;
}

/** A stream that is taken up again wherever it broke off. */
export interface Follower {
  /** Where it goes on. */
  cursor: string;
  /** All that came on it, connection by connection. */
  connections: SseBlock[][];
}

/** People and programs that use a server until it is gone, remember all that it told them, and come back. */
export class Clients {
  readonly followers: Follower[] = [
    { cursor: '0', connections: [] },
    { cursor: '0', connections: [] },
  ];
  /** By its key, each task that was asked for; the answer may not have come. */
  readonly orders = new Map<string, Order>();
  readonly told: Told[] = [];
  readonly #dice: Dice;
  #questions: string[] = [];
  #wakeAnswerer = () => {};

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** Uses the server until it is gone. @param traceBytes how long its trace is now */
  async use(url: string, traceBytes: () => number): Promise<void> {
    const isGone = new AbortController();
    const tell = (fact: Fact) => this.told.push({ at: traceBytes(), ...fact });
    const ends = this.followers.map((follower, index) =>
      this.#follow(url, follower, (block) => {
        tell({ kind: 'event', cursor: block.id ?? '', text: block.data ?? '' });
        if (index === 0) this.#notice(block);
      }),
    );
    const work = [
      this.#repeat(url, tell),
      this.#order(url, tell),
      this.#order(url, tell),
      this.#print(url, tell),
      this.#answer(url, tell, isGone.signal),
    ];
    await Promise.all(ends);
    isGone.abort();
    this.#wakeAnswerer();
    await Promise.all(work);
  }

  /** Resolves when so much has been told, or after a minute: then something is wrong that will be seen. */
  async haveBeenTold(count: number): Promise<void> {
    const giveUpAt = performance.now() + 60_000;
    while (this.told.length < count && performance.now() < giveUpAt) await delay(LOOK_AGAIN_MS);
  }

  async #follow(url: string, follower: Follower, onEvent: (block: SseBlock) => void): Promise<void> {
    const onBlock = (block: SseBlock) => {
      follower.cursor = block.id ?? follower.cursor;
      if (!isSignal(block)) onEvent(block);
    };
    for (let isThere = true; isThere; ) {
      const reader = openSocketReader(`${url}/v1/events`, { cursor: follower.cursor, onBlock });
      follower.connections.push(reader.blocks);
      isThere = await reader.opened.then(
        () => true,
        () => false,
      );
      await reader.closed;
    }
  }

  #notice({ data }: SseBlock): void {
    const event: LogEvent = JSON.parse(data ?? '');
    if (event.type !== 'question.asked') return;
    this.#questions.push(event.data.question.id);
    this.#wakeAnswerer();
  }

  /** Creates tasks one after the other. */
  async #order(url: string, tell: Tell): Promise<void> {
    for (;;) {
      const agent = this.#dice.pick(['errand', 'errand', 'clerk']);
      if ((await this.#create(url, { agent, input: this.orders.size }, tell)) === null) return;
    }
  }

  /** Has large events written, enough for the WAL to be moved into the database now and then, and stops in the middle. */
  async #print(url: string, tell: Tell): Promise<void> {
    for (;;) {
      const input = { count: 100_000, padBytes: 30_000, everyMs: 8, order: this.orders.size };
      const taskId = await this.#create(url, { agent: 'press', input }, tell);
      if (taskId === null) return;
      await delay(100 + this.#dice.below(900));
      const cancelled = await post(url, `/v1/tasks/${taskId}/cancel`);
      if (cancelled === null) return;
      if (cancelled.isDone) tell({ kind: 'cancelled', taskId });
    }
  }

  /** Asks for what was asked for before and not answered, by the same keys. */
  async #repeat(url: string, tell: Tell): Promise<void> {
    const known = new Set(this.told.map((fact) => (fact.kind === 'created' ? fact.key : null)));
    const open = [...this.orders].filter(([key]) => !known.has(key));
    for (const [key, order] of open) await this.#send(url, key, order, tell);
  }

  async #create(url: string, order: Order, tell: Tell): Promise<string | null> {
    const key = `order-${this.orders.size}`;
    this.orders.set(key, order);
    return this.#send(url, key, order, tell);
  }

  /** @returns the task's id; null when the server is gone */
  async #send(url: string, key: string, order: Order, tell: Tell): Promise<string | null> {
    for (;;) {
      const created = await post(url, '/v1/tasks', order, key);
      if (created === null) return null;
      if (created.isDone) {
        tell({ kind: 'created', taskId: created.body.id, key });
        return created.body.id;
      }
      if (created.body.code !== 'overloaded') throw new Error(`A task was refused: ${JSON.stringify(created.body)}`);
      await delay(OVERLOADED_MS);
    }
  }

  async #answer(url: string, tell: Tell, isGone: AbortSignal): Promise<void> {
    while (!isGone.aborted) {
      const questionId = this.#questions.shift();
      if (questionId === undefined) {
        await new Promise<void>((resolve) => {
          this.#wakeAnswerer = resolve;
        });
        continue;
      }
      const answer = `yes, ${this.#dice.below(1000)}`;
      const answered = await post(url, `/v1/questions/${questionId}/answers`, { answer });
      if (answered?.isDone) tell({ kind: 'answered', questionId, answer });
    }
  }
}

/** @returns what the server said; null when it is gone */
async function post(url: string, path: string, body?: unknown, key?: string): Promise<Said | null> {
  const headers = {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(key !== undefined && { 'Idempotency-Key': key }),
  };
  const init = { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  try {
    const response = await fetch(`${url}${path}`, init);
    return { isDone: response.ok, body: await response.json() };
  } catch {
    return null;
  }
}

interface Said {
  /** Whether it was 2xx. */
  isDone: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: a task, a question, or a problem
  body: any;
}
