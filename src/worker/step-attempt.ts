import { uuidv7obj } from 'uuidv7';
import type { SayResult, StepHandle } from '../model/agent.ts';
import { type NewEvent, newEvent, type StepRef } from '../model/event.ts';
import { formatId } from '../model/id.ts';
import { STEP_TIMEOUT } from '../model/journal.ts';
import { utf8Bytes } from '../model/json.ts';
import { agentEvent, progressEvent } from './agent-event.ts';
import type { Copy } from './copy.ts';
import { defer, handled } from './deferred.ts';
import { jsonText } from './json-text.ts';
import { streamMessage } from './message-stream.ts';
import { runInStep } from './nested-call.ts';

/** The largest value of a step; what a `say` resolves to is bounded as a message is. */
export const MAX_VALUE_BYTES = 1024 * 1024;

/** An attempt of a step was given up because its time was over. */
class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError';
  readonly code = STEP_TIMEOUT;

  constructor(key: string, timeoutMs: number) {
    super(`The step "${key}" took longer than ${timeoutMs} ms.`);
  }
}

/** What an attempt of a step came to; `json` is the text of what its function returned. */
export type AttemptResult = { ok: true; json: string } | { ok: false; error: unknown };

/** One attempt of a step, and what it has sent. Once it is over, its handle is dead: promises never settle. */
export class StepAttempt {
  readonly ref: StepRef;
  /** Aborts the attempt's signal. */
  readonly controller = new AbortController();
  readonly #copy: Copy;
  readonly #says: boolean;
  #messageId: string | null;
  #content = '';
  #saying: Promise<string> | null = null;
  #isOver = false;

  /** @param says whether the step is a `say`, whose message begins together with it */
  constructor(copy: Copy, ref: StepRef, says: boolean) {
    this.#copy = copy;
    this.ref = ref;
    this.#says = says;
    this.#messageId = says ? newMessageId() : null;
  }

  /** The message that the attempt writes, with what has been said so far; null when there is none. */
  get message(): { id: string; content: string } | null {
    return this.#messageId === null ? null : { id: this.#messageId, content: this.#content };
  }

  /** Runs the function to its end, or for `timeoutMs`, and waits for what it says. */
  async perform(
    body: (step: StepHandle) => unknown,
    idempotencyKey: string,
    timeoutMs?: number,
  ): Promise<AttemptResult> {
    const { promise: timeout, reject } = defer<never>();
    const giveUp = (after: number) => reject(new StepTimeoutError(this.ref.name, after));
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs, timeoutMs);
    try {
      const running = runInStep(this.ref.name, () => this.#run(body, idempotencyKey));
      return { ok: true, json: this.#valueText(await Promise.race([running, timeout])) };
    } catch (error) {
      return { ok: false, error };
    } finally {
      clearTimeout(timer);
      this.#isOver = true;
    }
  }

  /**
   * Streams the text of the attempt's message.
   *
   * @throws the signal's reason when it aborts, besides what {@link streamMessage} throws
   */
  async stream(source: SayResult): Promise<string> {
    const { taskId } = this.#copy;
    const messageId = this.#messageId ?? newMessageId();
    const sink = {
      take: (text: string) => {
        this.#content += text;
      },
      sendDelta: (text: string) => this.#append(newEvent(taskId, 'message.delta', { messageId, text })),
    };
    await streamMessage(source, sink, this.controller.signal);
    return this.#content;
  }

  async #run(body: (step: StepHandle) => unknown, idempotencyKey: string): Promise<unknown> {
    this.#copy.release.enter(this);
    try {
      const value = await body(this.#handle(idempotencyKey));
      await this.#saying;
      return value;
    } finally {
      this.#copy.release.leave(this);
    }
  }

  #valueText(value: unknown): string {
    const json = jsonText(value);
    if (!this.#says && utf8Bytes(json) > MAX_VALUE_BYTES) {
      throw new RangeError(`A step's value may hold ${MAX_VALUE_BYTES} bytes of JSON.`);
    }
    this.#copy.room.take(json);
    return json;
  }

  #handle(idempotencyKey: string): StepHandle {
    const { taskId } = this.#copy;
    return Object.freeze({
      idempotencyKey,
      attempt: this.ref.attempt,
      signal: this.controller.signal,
      emit: (type, data) => handled(this.#send(() => agentEvent(taskId, type, data))),
      progress: (fraction, note) => handled(this.#send(() => progressEvent(taskId, fraction, note))),
      say: (text, ...rest: unknown[]) => handled(this.#say(text, rest)),
    } satisfies StepHandle);
  }

  async #say(text: SayResult, rest: unknown[]): Promise<string> {
    if (rest.length > 0)
      throw new TypeError('say() takes the text alone in a step: its message has the name of the step.');
    if (this.#isOver) return new Promise(() => {});
    if (this.#messageId !== null) throw new Error(`The step "${this.ref.name}" has its message already.`);
    this.#messageId = newMessageId();
    void this.#append(
      newEvent(this.#copy.taskId, 'message.started', { messageId: this.#messageId, role: 'assistant' }),
    );
    this.#saying = handled(this.stream(text));
    try {
      return await this.#saying;
    } catch (error) {
      if (!this.controller.signal.aborted) throw error;
      this.#copy.release.leave(this);
      return new Promise(() => {});
    }
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
