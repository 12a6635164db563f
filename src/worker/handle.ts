import type { AskSpec, Reply, SayResult, StepHandle, StepOptions, TaskHandle } from '../model/agent.ts';
import type { NewEvent } from '../model/event.ts';
import { agentEvent, progressEvent } from './agent-event.ts';
import { checkAsk, openQuestion } from './ask.ts';
import type { Copy } from './copy.ts';
import { type Deferred, defer } from './deferred.ts';
import { checkName } from './names.ts';
import { refuseInStep } from './nested-call.ts';
import type { Command } from './protocol.ts';
import { idempotencyKey, seededRandom, seededUuid } from './seeded.ts';
import { checkStepOptions, performStep } from './step.ts';

const MAX_SLEEP_MS = 365 * 24 * 60 * 60_000;

/** Makes what the agent's code is given: every method checks its arguments, takes its key, and reports. */
export function createHandle<Input>(
  copy: Copy,
  { attempt, version, seed }: Extract<Command, { kind: 'start' }>,
  input: Input,
): TaskHandle<Input> {
  const randoms = new Map<string, number>();
  const uuids = new Map<string, number>();

  /** Rejects at once what breaks a rule: that depends on the arguments alone, takes no key and needs no disk. */
  function call<T>(begin: (result: Deferred<T>) => void): Promise<T> {
    const result = defer<T>();
    try {
      refuseInStep();
      if (copy.isOpen) begin(result);
    } catch (error) {
      result.reject(error);
    }
    return result.promise;
  }

  function step<T>(name: string, fn: (step: StepHandle) => Promise<T> | T, options: StepOptions = {}): Promise<T> {
    return call((result) => {
      checkName(name);
      if (typeof fn !== 'function') throw new TypeError(`The step "${name}" needs a function.`);
      const checked = checkStepOptions(options);
      const key = copy.keyFor(name);
      const work = { key, idempotencyKey: idempotencyKey(seed, key), says: false, body: fn, options: checked };
      void performStep(copy, work, result);
    });
  }

  function say(name: string, text: string | ((step: StepHandle) => SayResult | Promise<SayResult>)): Promise<string> {
    return call((result) => {
      checkName(name);
      if (typeof text !== 'string' && typeof text !== 'function') {
        throw new TypeError(`What "${name}" says must be a string or a function.`);
      }
      const key = copy.keyFor(name);
      void performStep(
        copy,
        {
          key,
          idempotencyKey: idempotencyKey(seed, key),
          says: true,
          body: async (handle, attempt) => attempt.stream(typeof text === 'string' ? text : await text(handle)),
          options: checkStepOptions({}),
        },
        result,
      );
    });
  }

  function append(event: () => NewEvent): Promise<void> {
    return call((result) => copy.append(event(), (at) => copy.deliver(at, () => result.resolve())));
  }

  function draw<T>(uses: Map<string, number>, name: string, make: (seed: string, name: string, n: number) => T): T {
    refuseInStep();
    checkName(name);
    const n = (uses.get(name) ?? 0) + 1;
    uses.set(name, n);
    return make(seed, name, n);
  }

  return Object.freeze({
    id: copy.taskId,
    input,
    attempt,
    version,
    conversation: null,
    signal: copy.signal,
    step,
    say,
    ask: (name: string, spec: AskSpec) =>
      call<Reply>((result) => {
        checkName(name);
        const question = checkAsk(spec);
        openQuestion(copy, copy.keyFor(name), question, result);
      }),
    sleep: (name, ms) =>
      call<void>((result) => {
        checkName(name);
        if (!(typeof ms === 'number' && ms >= 0 && ms <= MAX_SLEEP_MS)) {
          throw new TypeError('A sleep takes from 0 ms to 365 days.');
        }
        const key = copy.keyFor(name);
        copy.expect(key, () => result.resolve());
        copy.report({ kind: 'sleep', key, ms: Math.ceil(ms) });
      }),
    spawn: () => call(() => notYet('spawn')),
    inbox: () => call(() => notYet('inbox')),
    progress: (fraction, note) => append(() => progressEvent(copy.taskId, fraction, note)),
    emit: (type, data) => append(() => agentEvent(copy.taskId, type, data)),
    now: () => {
      refuseInStep();
      return copy.now;
    },
    random: (name) => draw(randoms, name, seededRandom),
    uuid: (name) => draw(uuids, name, seededUuid),
  } satisfies TaskHandle<Input>);
}

function notYet(method: string): never {
  throw new Error(`This version of Holdfast has no task.${method}() yet.`);
}
