import { uuidv7obj } from 'uuidv7';
import type { SayResult, StepHandle } from '../model/agent.ts';
import { type NewEvent, newEvent, type StepRef } from '../model/event.ts';
import { formatId } from '../model/id.ts';
import { agentEvent, progressEvent } from './agent-event.ts';
import type { Copy } from './copy.ts';
import { defer, handled } from './deferred.ts';
import { jsonText } from './json-text.ts';
import { streamMessage } from './message-stream.ts';
import { runInStep } from './nested-call.ts';

/** A run of a step's function was given up because its time was over. */
class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError';
  readonly code = 'step_timeout';

  constructor(key: string, timeoutMs: number) {
    super(`The step "${key}" took longer than ${timeoutMs} ms.`);
  }
}

/** What a run of a step's function came to; `json` is the text of what it returned. */
export type RunResult = { ok: true; json: string } | { ok: false; error: unknown };

/** One run of a step's function, and what it has sent. Once it is over, its handle is dead: promises never settle. */
export class StepRun {
  readonly ref: StepRef;
  /** Aborts the run's signal. */
  readonly controller = new AbortController();
  readonly #copy: Copy;
  #messageId: string | null;
  #content = '';
  #saying: Promise<string> | null = null;
  #isOver = false;

  /** @param says whether the step is a `say`, whose message begins together with it */
  constructor(copy: Copy, ref: StepRef, says: boolean) {
    this.#copy = copy;
    this.ref = ref;
    this.#messageId = says ? newMessageId() : null;
  }

  /** The message that the run writes and what it holds so far; null when there is none. */
  get message(): { id: string; content: string } | null {
    return this.#messageId === null ? null : { id: this.#messageId, content: this.#content };
  }

  /** Runs the function to its end, or for `timeoutMs`, and waits for what it says. */
  async perform(body: (step: StepHandle) => unknown, idempotencyKey: string, timeoutMs?: number): Promise<RunResult> {
    const { promise: timeout, reject } = defer<never>();
    const giveUp = (after: number) => {
      const error = new StepTimeoutError(this.ref.name, after);
      this.controller.abort(error);
      reject(error);
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs, timeoutMs);
    try {
      const running = runInStep(this.ref.name, async () => {
        const value = await body(this.#handle(idempotencyKey));
        await this.#saying;
        return value;
      });
      return { ok: true, json: jsonText(await Promise.race([running, timeout])) };
    } catch (error) {
      return { ok: false, error };
    } finally {
      clearTimeout(timer);
      this.#isOver = true;
    }
  }

  /** Streams the text of the message that began together with the run. */
  async stream(source: SayResult): Promise<string> {
    const messageId = this.#messageId ?? newMessageId();
    const sendDelta = (text: string) => this.#append(newEvent(this.#copy.taskId, 'message.delta', { messageId, text }));
    this.#content = await streamMessage(source, sendDelta, this.controller.signal);
    return this.#content;
  }

  #handle(idempotencyKey: string): StepHandle {
    const { taskId } = this.#copy;
    return Object.freeze({
      idempotencyKey,
      attempt: this.ref.attempt,
      signal: this.controller.signal,
      emit: (type, data) => handled(this.#send(() => agentEvent(taskId, type, data))),
      progress: (fraction, note) => handled(this.#send(() => progressEvent(taskId, fraction, note))),
      say: (text) => handled(this.#say(text)),
    } satisfies StepHandle);
  }

  async #say(text: SayResult): Promise<string> {
    if (this.#messageId !== null) throw new Error(`The step "${this.ref.name}" has its message already.`);
    this.#messageId = newMessageId();
    void this.#append(
      newEvent(this.#copy.taskId, 'message.started', { messageId: this.#messageId, role: 'assistant' }),
    );
    this.#saying = handled(this.stream(text));
    return this.#saying;
  }

  async #send(event: () => NewEvent): Promise<void> {
    return this.#append(event());
  }

  /** Resolves as soon as the event is on disk: inside a step no order needs to be kept. */
  #append(event: NewEvent): Promise<void> {
    const { promise, resolve } = defer<void>();
    if (!this.#isOver) this.#copy.append({ ...event, step: JSON.stringify(this.ref) }, () => resolve());
    return promise;
  }
}

function newMessageId(): string {
  return formatId('msg', uuidv7obj().bytes);
}
