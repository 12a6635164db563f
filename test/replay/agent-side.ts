import type { ChildHandle, StepHandle, TaskHandle } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import { type BodyRun, emitName, type Incarnation } from './trace.ts';

/** What a run of an agent's code needs of the world around it. */
export interface Surroundings {
  /** Whether the result of each child is asked for at once, so that all that is delivered is seen. */
  asksForResults: boolean;
  /** Something that is not the handle's, and takes as long as the schedule says. */
  raw(incarnation: Incarnation, label: string): Promise<void>;
  /** Notes that a step's function runs, and which run under its key this is, over all attempts: 1, 2 … */
  begin(run: BodyRun): number;
  /** A value that comes only once. */
  fresh(): number;
  /** Notes what `random` and `uuid` have given. */
  drawn(incarnation: Incarnation, what: string, value: string | number): void;
}

/** What tests' agents use beside their handle. */
export interface AgentSide {
  /** Awaits something that is not the handle's. */
  raw(): Promise<void>;
  /** A step's function that takes its time, and returns something new each time it runs. */
  returns(tag?: string): (step: StepHandle) => Promise<string>;
  /** One that fails so many times first, over all attempts. */
  fails(times: number, tag?: string): (step: StepHandle) => Promise<string>;
}

export type TestAgent = (task: TaskHandle, side: AgentSide) => unknown;

/** Wraps a handle so that what passes between the code and it is written down. */
export function observe(handle: TaskHandle, seen: Incarnation, world: Surroundings): [TaskHandle, AgentSide] {
  const uses = new Map<string, number>();
  const runs = new WeakMap<StepHandle, { key: string; run: number }>();
  let emits = 0;

  function keyFor(name: string): string {
    const use = (uses.get(name) ?? 0) + 1;
    uses.set(name, use);
    return use === 1 ? name : `${name}#${use}`;
  }

  function called(op: string, what: string): void {
    seen.trace.push({ at: 'call', op, what });
  }

  function watch<T>(what: string, promise: Promise<T>, text: (value: T) => Json): Promise<T> {
    const deliver = (ok: boolean, value: string) =>
      seen.trace.push({ at: 'delivery', what, ok, value, now: handle.now() });
    promise.then(
      (value) => deliver(true, JSON.stringify(text(value) ?? null)),
      (error) => deliver(false, errorText(error)),
    );
    return promise;
  }

  function emitted(op: string, promise: () => Promise<void>): Promise<void> {
    const what = emitName(++emits);
    called(op, what);
    return watch(what, promise(), () => null);
  }

  function observeChild(key: string, child: ChildHandle): ChildHandle {
    let result: ReturnType<ChildHandle['result']> | null = null;
    return {
      id: child.id,
      result: () => {
        result ??= watch(`${key}>`, child.result(), (value) => value as Json);
        return result;
      },
    };
  }

  const children = new WeakMap<ChildHandle, ChildHandle>();

  const task: TaskHandle = {
    ...handle,
    step(name, fn, options = {}) {
      const key = keyFor(name);
      called(options.once ? 'once' : 'step', key);
      const body = async (step: StepHandle) => {
        const run: BodyRun = { taskId: seen.taskId, key, once: options.once ?? false, ended: null, incarnation: seen };
        runs.set(step, { key, run: world.begin(run) });
        world.drawn(seen, `idempotencyKey ${key}`, step.idempotencyKey);
        try {
          const value = await fn(step);
          run.ended = 'returned';
          return value;
        } catch (error) {
          run.ended = 'threw';
          throw error;
        }
      };
      return watch(key, handle.step(name, body, options), (value) => value as Json);
    },
    say(name, text) {
      const key = keyFor(name);
      called('say', key);
      return watch(key, handle.say(name, text), (value) => value);
    },
    ask(name, spec) {
      const key = keyFor(name);
      called('ask', key);
      return watch(key, handle.ask(name, spec), (value) => value as Json);
    },
    sleep(name, ms) {
      const key = keyFor(name);
      called('sleep', key);
      return watch(key, handle.sleep(name, ms), () => null);
    },
    spawn(name, agent, input) {
      const key = keyFor(name);
      called('spawn', key);
      const spawned = handle.spawn(name, agent, input);
      watch(key, spawned, ({ id }) => id);
      return spawned.then((child) => {
        const known = children.get(child) ?? observeChild(key, child);
        children.set(child, known);
        if (world.asksForResults) void known.result();
        return known;
      });
    },
    inbox() {
      const key = keyFor('inbox');
      called('inbox', key);
      return watch(key, handle.inbox(), (messages) => messages);
    },
    emit: (type, data) => emitted(`emit ${type} ${JSON.stringify(data ?? {})}`, () => handle.emit(type, data)),
    progress: (fraction, note) => emitted(`progress ${fraction} ${note ?? ''}`, () => handle.progress(fraction, note)),
    random(name) {
      const n = keyForDraw('random', name);
      const value = handle.random(name);
      world.drawn(seen, `random ${name} ${n}`, value);
      return value;
    },
    uuid(name) {
      const n = keyForDraw('uuid', name);
      const value = handle.uuid(name);
      world.drawn(seen, `uuid ${name} ${n}`, value);
      return value;
    },
  };

  function keyForDraw(kind: string, name: string): number {
    const use = (uses.get(`${kind}>${name}`) ?? 0) + 1;
    uses.set(`${kind}>${name}`, use);
    return use;
  }

  const side: AgentSide = {
    raw: () => world.raw(seen, 'raw'),
    returns: (tag = '') => side.fails(0, tag),
    fails:
      (times, tag = '') =>
      async (step) => {
        const { key, run } = runs.get(step) ?? { key: '', run: 0 };
        await world.raw(seen, `body of ${key}`);
        if (run <= times) throw new Error(`Run ${run} of ${key} fails.`);
        return `${tag}${world.fresh()}`;
      },
  };
  return [task, side];
}

/** All of an error that a replay must bring back. */
export function errorText(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return String(error);
  const code = 'code' in error ? ` [${error.code}]` : '';
  const cause = error.cause === undefined ? '' : ` <- ${errorText(error.cause, depth + 1)}`;
  return `${error.name}: ${error.message}${code}${cause}`;
}
