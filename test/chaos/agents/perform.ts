import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AskSpec, StepHandle, TaskHandle } from '../../../src/model/agent.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { appendEffect, readEffects } from './effects.ts';
import { type Move, type ScriptInput, scriptOf } from './script.ts';

export interface PerformanceInput extends ScriptInput {
  /** Of the request that asked for the task, and of no other. */
  ticket: string;
  /** The file that effects are appended to. */
  effects: string;
}

/** An event from outside steps, as the agent told it. */
export interface ToldEvent {
  type: string;
  data: Json;
}

/** What a performed task comes to: all that its code was told and did, to be compared with what the log says. */
export interface PerformanceOutput {
  ticket: string;
  /** Every event from outside steps, in the order of the calls, in whichever attempt they were first told. */
  told: ToldEvent[];
  /** What each key came to. */
  values: { [key: string]: Json };
}

/** What a task fails with whose script ends so. */
export const SCRIPTED_FAILURE = 'It fails, as its script says.';

export async function perform(task: TaskHandle<PerformanceInput>, input: PerformanceInput): Promise<PerformanceOutput> {
  const { moves, ending, pauses } = scriptOf(input);
  const performance = new Performance(task, input, pauses);
  await performance.play(moves, 'main');
  await performance.tell('main', 'chaos.over', {});
  // An attempt that fails goes back to before what failed it: that is nothing, when the last thing it heard was good.
  await performance.play([{ kind: 'step', name: 'main.last', ms: 0, failures: 0, tells: 0, pieces: 0 }], 'main');
  if (ending === 'failed') throw new Error(SCRIPTED_FAILURE);
  return { ticket: input.ticket, told: performance.told, values: performance.values };
}

/** Why an attempt of a step fails that is to be attempted again. */
class NotYet extends Error {}

const FLAKY = { attempts: 50, baseMs: 10, maxMs: 60 };
const OPTIONS = ['left', 'right', 'ahead'];

class Performance {
  readonly told: ToldEvent[] = [];
  readonly values: { [key: string]: Json } = {};
  readonly #task: TaskHandle<PerformanceInput>;
  readonly #input: PerformanceInput;
  readonly #pauses: boolean;
  readonly #uses = new Map<string, number>();
  readonly #toldIn = new Map<string, number>();

  constructor(task: TaskHandle<PerformanceInput>, input: PerformanceInput, pauses: boolean) {
    this.#task = task;
    this.#input = input;
    this.#pauses = pauses;
  }

  async play(moves: readonly Move[], branch: string): Promise<void> {
    for (const move of moves) await this.#make(move, branch);
  }

  /** An event with its number in the task and in its branch, and with what must be the same in every attempt. */
  tell(branch: string, type: string, what: JsonObject): Promise<void> {
    const b = (this.#toldIn.get(branch) ?? 0) + 1;
    this.#toldIn.set(branch, b);
    const data = {
      n: this.told.length + 1,
      branch,
      b,
      chance: this.#task.random('chance'),
      now: this.#pauses ? null : this.#task.now(),
      ...what,
    };
    this.told.push({ type, data });
    return this.#task.emit(type, data);
  }

  async #make(move: Move, branch: string): Promise<void> {
    switch (move.kind) {
      case 'step':
        return this.#step(move);
      case 'once':
        return this.#once(move, branch);
      case 'doomed':
        return this.#doomed(move, branch);
      case 'reluctant':
        return this.#reluctant(move);
      case 'say':
        return this.#say(move);
      case 'emit': {
        const told = this.tell(branch, 'chaos.told', {});
        return move.awaited ? told : undefined;
      }
      case 'progress':
        return this.#progress(move.fraction);
      case 'ask': {
        const reply = await this.#ask(move.name, branch, { items: items(), timeoutMs: move.timeoutMs });
        // What comes next hangs on what was heard.
        return this.#plainStep(`${branch}.after-${reply}`);
      }
      case 'race':
        return this.#race(move, branch);
      case 'sleep':
        this.#keyOf(move.name);
        return this.#task.sleep(move.name, move.ms);
      case 'branches':
        await Promise.all(move.branches.map(({ name, moves }) => this.play(moves, name)));
        return;
      case 'child':
        return this.#child(move, branch);
      case 'pause':
        await delay(move.ms);
    }
  }

  async #step({ name, ms, failures, tells, pieces }: Extract<Move, { kind: 'step' }>): Promise<void> {
    const key = this.#keyOf(name);
    const body = async (step: StepHandle) => {
      for (let k = 1; k <= tells; k++) await step.emit('chaos.inside', { key, attempt: step.attempt, k, of: tells });
      const nonce = await this.#affect(key, step, ms);
      if (step.attempt <= failures) throw new NotYet('Not yet.');
      if (pieces > 0) await step.say(saying(nonce, pieces, ms));
      return nonce;
    };
    this.values[key] = await this.#task.step(name, body, failures > 0 ? { retry: FLAKY } : {});
  }

  async #plainStep(name: string): Promise<void> {
    await this.#step({ kind: 'step', name, ms: 10, failures: 0, tells: 0, pieces: 0 });
  }

  async #once({ name, ms }: Extract<Move, { kind: 'once' }>, branch: string): Promise<void> {
    const key = this.#keyOf(name);
    const running = this.#task.step(name, (step) => this.#affect(key, step, ms, true), { once: true });
    // Nobody knows whether what was cut off has happened.
    this.values[key] = await running.catch(() => 'uncertain');
    await this.tell(branch, 'chaos.once', { key, value: this.values[key] });
  }

  async #doomed({ name, ms }: Extract<Move, { kind: 'doomed' }>, branch: string): Promise<void> {
    const key = this.#keyOf(name);
    const running = this.#task.step(name, async (step) => {
      throw new Error(`Doomed: ${await this.#affect(key, step, ms)}`);
    });
    this.values[key] = await running.then(
      () => null,
      (error) => error.message,
    );
    await this.tell(branch, 'chaos.doomed', { key, message: this.values[key] ?? null });
  }

  async #reluctant({ name, ms, failures }: Extract<Move, { kind: 'reluctant' }>): Promise<void> {
    const key = this.#keyOf(name);
    this.values[key] = await this.#task.step(name, async (step) => {
      const runs = readEffects(this.#input.effects).filter(
        ({ taskId, key: of }) => taskId === this.#task.id && of === key,
      );
      const nonce = await this.#affect(key, step, ms);
      if (runs.length < failures) throw new Error('Reluctant.');
      return nonce;
    });
  }

  async #say({ name, ms, pieces }: Extract<Move, { kind: 'say' }>): Promise<void> {
    const key = this.#keyOf(name);
    this.values[key] = await this.#task.say(name, async (step) => saying(await this.#affect(key, step, 0), pieces, ms));
  }

  #progress(fraction: number): Promise<void> {
    const data = { fraction, note: `${this.told.length + 1}` };
    this.told.push({ type: 'task.progress', data });
    return this.#task.progress(data.fraction, data.note);
  }

  /** Tells what was heard, and gives a name for it. */
  async #ask(name: string, branch: string, spec: AskSpec): Promise<string> {
    const key = this.#keyOf(name);
    const reply = await this.#task.ask(name, spec);
    this.values[key] = reply as Json;
    await this.tell(branch, 'chaos.heard', { key, reply: reply as Json });
    return reply.status === 'answered' ? `${reply.answers.way}` : reply.status;
  }

  async #race({ name, ms }: Extract<Move, { kind: 'race' }>, branch: string): Promise<void> {
    const lost = new AbortController();
    const asked = this.#ask(name, branch, { items: items(), timeoutMs: null, signal: lost.signal });
    const timer = `${name}.timer`;
    this.#keyOf(timer);
    const winner = await Promise.race([asked.then(() => 'people'), this.#task.sleep(timer, ms).then(() => 'timer')]);
    lost.abort();
    await this.#plainStep(`${branch}.won-by-${winner}`);
    await asked;
  }

  async #child({ name, seed, awaited }: Extract<Move, { kind: 'child' }>, branch: string): Promise<void> {
    const { ticket, depth, ...rest } = this.#input;
    const key = this.#keyOf(name);
    const input = { ...rest, ticket: `${ticket}/${key}`, seed, depth: depth + 1 };
    const child = await this.#task.spawn(name, 'scripted', input);
    await this.tell(branch, 'chaos.spawned', { key, childId: child.id });
    if (!awaited) return;
    const result = await child.result();
    this.values[key] = result as Json;
    await this.tell(branch, 'chaos.child', { key, childId: child.id, status: result.status });
  }

  /** Does something outside, in the middle of so much time. */
  async #affect(key: string, step: StepHandle, ms: number, once = false): Promise<string> {
    const { signal, attempt } = step;
    const { id: taskId, attempt: taskAttempt } = this.#task;
    const nonce = randomUUID();
    await delay(ms / 2, undefined, { signal });
    const effect = { taskId, key, attempt, taskAttempt, nonce, once, at: Date.now(), pid: process.pid };
    appendEffect(this.#input.effects, effect);
    await delay(ms / 2, undefined, { signal });
    return nonce;
  }

  /** The key of the call that is made next, by the rule of all keys. */
  #keyOf(name: string): string {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return use === 1 ? name : `${name}#${use}`;
  }
}

function items(): AskSpec['items'] {
  return [
    { id: 'way', prompt: 'Which way?', options: OPTIONS },
    { id: 'note', prompt: 'Who says so?', required: false },
  ];
}

async function* saying(nonce: string, pieces: number, ms: number): AsyncGenerator<string> {
  for (let piece = 0; piece < pieces; piece++) {
    yield piece === 0 ? nonce : ` and ${piece}`;
    await delay(ms / pieces);
  }
}
