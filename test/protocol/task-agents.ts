import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import type { AskSpec, Reply } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** Agents for the tests of tasks and questions: each does one thing, as its input tells. */

export const echo = defineAgent({ name: 'echo', run: (_task, input) => input });

export const greeter = defineAgent({
  name: 'greeter',
  version: '3',
  description: 'Greets by name.',
  input: z.object({ name: z.string().min(1).max(20), formal: z.boolean().default(false) }),
  run: (_task, { name, formal }) => (formal ? `Good day, ${name}.` : `Hi ${name}!`),
});

interface SchemaInput {
  how: 'later' | 'throws' | 'refuses' | 'blocks' | 'hangs' | 'gate' | 'until';
  gate?: string;
  /** Epoch ms, for `until`. */
  at?: number;
}

/** Its schema does what the input says. */
export const oddSchema = defineAgent({
  name: 'odd-schema',
  input: schemaOf(async ({ how, gate = '', at = 0 }: SchemaInput) => {
    if (how === 'later') await nextTurn();
    if (how === 'gate') await passGate(gate);
    if (how === 'hangs') await new Promise(() => {});
    if (how === 'blocks') spin(2500);
    if (how === 'throws') throw new Error('the schema threw');
    const refuses = how === 'refuses' || (how === 'until' && Date.now() > at);
    return refuses ? [{ message: 'not like this', path: ['how', { key: 'a/b' }] }] : [];
  }),
  run: (_task, { how }) => how,
});

/** Runs until it is aborted. */
export const holder = defineAgent({
  name: 'holder',
  async run(task) {
    await task.emit('holder.begun');
    await aborted(task.signal);
  },
});

/** Runs until the gate by the name of its input is opened. */
export const gated = defineAgent<string>({
  name: 'gated',
  async run(task, gate) {
    await task.emit('gated.reached');
    await passGate(gate);
    return 'through';
  },
});

/** Opens a gate for those who stand there and those who come, until `times` have gone through. */
export const opener = defineAgent<{ gate: string; times: number }>({
  name: 'opener',
  run: (_task, { gate, times }) =>
    new Promise<void>((resolve) => {
      let through = 0;
      const channel = openChannel(`gate ${gate}`, (message) => {
        if (message === 'knock') channel.postMessage('open');
        if (message !== 'entered' || ++through < times) return;
        channel.close();
        resolve();
      });
      channel.postMessage('open');
    }),
});

/** Listens for one {@link announce} by the name of its input, and returns it. */
export const witness = defineAgent<string>({
  name: 'witness',
  async run(task, name) {
    const heard = new Promise((resolve) => {
      const channel = openChannel(name, (message) => {
        channel.close();
        resolve(message);
      });
    });
    await task.emit('witness.listening');
    return heard;
  },
});

/** Emits without pause, goes on when it is aborted, and then announces by the name of its input that it has. */
export const stubborn = defineAgent<string>({
  name: 'stubborn',
  async run(task, name) {
    const abort = aborted(task.signal);
    const isOver = () => task.signal.aborted;
    while (!isOver()) {
      const burst = Array.from({ length: 10 }, () => task.emit('stubborn.tick'));
      await Promise.race([Promise.all(burst), abort]);
    }
    for (let i = 0; i < 50; i++) void task.emit('stubborn.tick');
    void task.say('late', 'I am still here.');
    void task.step('late', () => 'done');
    void task.ask('late', { items: [{ id: 'a', prompt: 'Still there?' }] });
    void task.progress(1);
    await nextTurn();
    announce(name, { reason: String(task.signal.reason?.name), wentOn: true });
    return 'not to be stored';
  },
});

export const asker = defineAgent<AskSpec>({ name: 'asker', run: (task, spec) => task.ask('question', spec) });

/** Asks the same so many times, one after the other. */
export const examiner = defineAgent<{ rounds: number; spec: AskSpec }>({
  name: 'examiner',
  async run(task, { rounds, spec }) {
    const replies: Reply[] = [];
    for (let round = 0; round < rounds; round++) replies.push(await task.ask('round', spec));
    return replies;
  },
});

/** Asks everything at once, and emits what each branch hears. */
export const branches = defineAgent<{ [name: string]: AskSpec }>({
  name: 'branches',
  async run(task, specs) {
    const heard = Object.entries(specs).map(async ([name, spec]) => {
      const reply = await task.ask(name, spec);
      await task.emit('branch.heard', { name, reply: reply as Json });
      return [name, reply] as const;
    });
    return Object.fromEntries(await Promise.all(heard));
  },
});

/** Asks twice at once; the first reply withdraws the other question. */
export const either = defineAgent<{ left: AskSpec; right: AskSpec }>({
  name: 'either',
  async run(task, { left, right }) {
    const done = new AbortController();
    const ask = async (name: string, spec: AskSpec) => {
      const reply = await task.ask(name, { ...spec, signal: done.signal });
      done.abort();
      return reply;
    };
    const [first, second] = await Promise.all([ask('left', left), ask('right', right)]);
    return { left: first, right: second };
  },
});

/** Ends in one way or the other while its question is pending. */
export const leaver = defineAgent<{ throws: boolean }>({
  name: 'leaver',
  async run(task, { throws }) {
    void task.ask('unheard', { items: [{ id: 'a', prompt: 'Anyone?' }] });
    await task.emit('leaver.asked');
    if (throws) throw new Error('left');
    return 'left';
  },
});

/** Asks in one branch while another, a step, stands at a gate. */
export const halfWaiting = defineAgent<{ gate: string; spec: AskSpec }>({
  name: 'half-waiting',
  async run(task, { gate, spec }) {
    const reply = task.ask('question', spec);
    await task.step('gate', () => passGate(gate));
    await task.emit('half-waiting.free');
    return reply;
  },
});

/** Works for `ms`, asks, and so on: so many times. */
export const stretches = defineAgent<{ ms: number; times: number; spec: AskSpec }>({
  name: 'stretches',
  async run(task, { ms, times, spec }) {
    for (let i = 0; i < times; i++) {
      await delay(ms);
      await task.ask('between', spec);
    }
    await task.emit('stretches.done');
    await delay(ms);
  },
});

export const napper = defineAgent<number>({ name: 'napper', run: (task, ms) => task.sleep('nap', ms) });

export const counter = defineAgent<number>({
  name: 'counter',
  async run(task, upTo) {
    for (let i = 1; i <= upTo; i++) await task.progress(i / upTo, `step ${i}`);
  },
});

/** Says a text, then runs until it is aborted. */
export const speaker = defineAgent<string>({
  name: 'speaker',
  async run(task, text) {
    await task.say('speech', text);
    await aborted(task.signal);
  },
});

/** Tries to emit each, and returns what came of it: null, or the name of the error. */
export const emitter = defineAgent<{ type: string; bytes?: number }[]>({
  name: 'emitter',
  run: (task, events) =>
    Promise.all(
      events.map(({ type, bytes = 2 }) =>
        task.emit(type, 'x'.repeat(bytes - 2)).then(
          () => null,
          (error) => error.name,
        ),
      ),
    ),
});

/** Tries to ask, and returns the message of the refusal. */
export const badAsker = defineAgent<AskSpec>({
  name: 'bad-asker',
  run: (task, spec) =>
    task.ask('question', spec).then(
      () => null,
      (error) => error.message,
    ),
});

const OUTPUTS = {
  nothing: () => undefined,
  function: () => () => 1,
  symbol: () => Symbol('x'),
  bigint: () => 1n,
  circular: () => circular(),
  'not a number': () => Number.NaN,
  infinity: () => ({ deep: [Number.POSITIVE_INFINITY] }),
  map: () => new Map([['a', 1]]),
  'a throwing toJSON': () => ({ toJSON: () => fail('toJSON threw') }),
  'a throwing getter': () => Object.defineProperty({}, 'x', { enumerable: true, get: () => fail('the getter threw') }),
  'a date': () => new Date(0),
  'an object without prototype': () => Object.assign(Object.create(null), { a: 1 }),
  '1 MiB': () => 'x'.repeat(1024 * 1024 - 2),
  '1 MiB and a byte': () => 'x'.repeat(1024 * 1024 - 1),
  '1 MiB in two-byte letters': () => 'ü'.repeat(512 * 1024 - 1),
  'two-byte letters and a byte more': () => `${'ü'.repeat(512 * 1024 - 1)}x`,
  '32 levels': () => nested(32),
  '33 levels': () => nested(33),
} satisfies { [name: string]: () => unknown };

export const outputs = defineAgent<keyof typeof OUTPUTS>({ name: 'outputs', run: (_task, what) => OUTPUTS[what]() });

const THROWN = {
  error: () => new TypeError('no such flight'),
  'an error without a message': () => new RangeError(),
  'an error with odd fields': () =>
    Object.assign(new Error('odd'), { cause: circular(), code: 7n, fn: () => 1, stack: 'at /etc/passwd:1:1' }),
  undefined: () => undefined,
  null: () => null,
  'a string': () => 'plain words',
  'a number': () => 0,
  'a bigint': () => 12n,
  'a symbol': () => Symbol('thrown'),
  'a function': () => () => 1,
  circular: () => circular(),
  frozen: () => Object.freeze(new Error('frozen')),
  'a throwing getter': () => Object.defineProperty({}, 'message', { get: () => fail('no message for you') }),
  'a revoked proxy': () => revoked(),
  huge: () => new Error('x'.repeat(5_000_000)),
  emoji: () => new Error('😀'.repeat(1000)),
  'emoji, shifted by one': () => new Error(`x${'😀'.repeat(1000)}`),
  '1 KiB': () => new Error('x'.repeat(1024)),
  NUL: () => new Error('a\0b'),
  'a lone surrogate': () => new Error('half \ud83d'),
} satisfies { [name: string]: () => unknown };

export const thrower = defineAgent<keyof typeof THROWN>({
  name: 'thrower',
  run(_task, what) {
    throw THROWN[what]();
  },
});

const DEATHS = {
  'exits with 0': () => process.exit(0),
  'exits with 1': () => process.exit(1),
  'throws in a timer': () => void setTimeout(() => fail('in a timer')),
  'leaves a rejection unhandled': () => void Promise.reject(new Error('unhandled')),
  'loops for ever': () => spin(Number.POSITIVE_INFINITY),
  'exhausts its memory': () => hoard(),
} satisfies { [name: string]: () => void };

/** Ends its worker, one way or the other, and never itself. */
export const killer = defineAgent<keyof typeof DEATHS>({
  name: 'killer',
  async run(task, how) {
    await task.emit('killer.ready');
    DEATHS[how]();
    await new Promise(() => {});
  },
});

function schemaOf<Input>(
  validate: (value: Input) => Promise<StandardSchemaV1.Issue[]>,
): StandardSchemaV1<unknown, Input> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      async validate(value) {
        const input = value as Input;
        const issues = await validate(input);
        return issues.length > 0 ? { issues } : { value: input };
      },
    },
  };
}

/** Channels of one name reach each other in all threads of the process. */
function openChannel(name: string, onMessage: (message: unknown) => void): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event) => onMessage((event as MessageEvent).data);
  return channel;
}

function announce(name: string, message: Json): void {
  const channel = new BroadcastChannel(name);
  channel.postMessage(message);
  channel.close();
}

function passGate(gate: string): Promise<void> {
  return new Promise((resolve) => {
    const channel = openChannel(`gate ${gate}`, (message) => {
      if (message !== 'open') return;
      channel.postMessage('entered');
      channel.close();
      resolve();
    });
    channel.postMessage('knock');
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

function spin(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

function hoard(): void {
  for (const hoarded: number[][] = []; ; ) hoarded.push(new Array(5_000_000).fill(hoarded.length));
}

function circular(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

function nested(depth: number): Json {
  return depth === 0 ? 'bottom' : [nested(depth - 1)];
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function fail(message: string): never {
  throw new Error(message);
}
