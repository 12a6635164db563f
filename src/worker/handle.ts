import type {
  AskSpec,
  ChildHandle,
  Reply,
  SayResult,
  StepHandle,
  StepOptions,
  TaskHandle,
  Turn,
} from '../model/agent.ts';
import type { NewEvent } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import { agentEvent, progressEvent } from './agent-event.ts';
import { checkAsk, openQuestion } from './ask.ts';
import type { Copy } from './copy.ts';
import { type Deferred, defer } from './deferred.ts';
import type { Entry } from './deliveries.ts';
import { checkName } from './names.ts';
import { refuseInStep } from './nested-call.ts';
import type { Command } from './protocol.ts';
import { toldValue } from './resolutions.ts';
import { idempotencyKey, seededRandom, seededUuid } from './seeded.ts';
import { checkSpawn, spawnChild } from './spawn.ts';
import { performStep } from './step.ts';
import { checkStepOptions } from './step-options.ts';

const MAX_SLEEP_MS = 365 * 24 * 60 * 60_000;

/** Makes what the agent's code is given: every method checks its arguments, takes its key, and reports. */
export function createHandle<Input>(
  copy: Copy,
  { attempt, version, seed, conversationId }: Extract<Command, { kind: 'start' }>,
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
      else copy.release.waits();
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
      performStep(copy, work, result);
    });
  }

  function say(name: string, text: string | ((step: StepHandle) => SayResult | Promise<SayResult>)): Promise<string> {
    return call((result) => {
      checkName(name);
      if (typeof text !== 'string' && typeof text !== 'function') {
        throw new TypeError(`What "${name}" says must be a string or a function.`);
      }
      const key = copy.keyFor(name);
      performStep(
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

  /** What is there already: the call is resolved as soon as it is stored. */
  function take<T>(kind: 'inbox' | 'history'): Promise<T> {
    return call((result) => {
      const key = copy.keyFor(kind);
      const entry: Entry = { kind, isAwaited: true, settle: (told) => result.resolve(toldValue(told)) };
      const { row, askedAt } = copy.ask(key, entry);
      if (row === null) copy.report({ kind, key, askedAt });
    });
  }

  function history(): Promise<Turn[]> {
    return take('history');
  }

  function append(event: () => NewEvent): Promise<void> {
    return call((result) => copy.emit(event(), result));
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
    conversation: conversationId === null ? null : Object.freeze({ id: conversationId, history }),
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
        const entry: Entry = { kind: 'sleep', isAwaited: true, settle: () => result.resolve() };
        const { row, askedAt } = copy.ask(key, entry);
        if (row === null) copy.report({ kind: 'sleep', key, askedAt, ms: Math.ceil(ms) });
      }),
    spawn: (name, agent, childInput) =>
      call<ChildHandle>((result) => {
        checkName(name);
        const child = checkSpawn(agent, childInput);
        spawnChild(copy, copy.keyFor(name), child, result);
      }),
    inbox: () => take<Json[]>('inbox'),
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
