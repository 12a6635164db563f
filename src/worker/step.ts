import { setTimeout as delay } from 'node:timers/promises';
import type { RetryOptions, StepHandle, StepOptions } from '../model/agent.ts';
import { type EventData, MAX_EVENT_BYTES } from '../model/event.ts';
import { utf8Bytes } from '../model/json.ts';
import { taskError } from '../model/task-error.ts';
import type { Copy } from './copy.ts';
import type { Deferred } from './deferred.ts';
import { errorMessage } from './error-message.ts';
import { jsonText } from './json-text.ts';
import type { CopyReport } from './protocol.ts';
import { MAX_TIMER_MS, retryDelay, withRetryDefaults } from './retry.ts';
import { type AttemptResult, StepAttempt } from './step-attempt.ts';

type Tool = NonNullable<StepOptions['tool']>;

const MAX_TOOL_NAME_LENGTH = 255;

/** What the agent asked a step to do, checked. */
export interface Step {
  key: string;
  idempotencyKey: string;
  /** Whether the step streams a message from its beginning. */
  says: boolean;
  body(handle: StepHandle, attempt: StepAttempt): unknown;
  options: CheckedOptions;
}

export interface CheckedOptions {
  retry: Required<RetryOptions>;
  timeoutMs?: number;
  tool: Tool | null;
}

/** @throws TypeError naming the option that breaks a rule */
export function checkStepOptions({ retry, once, timeoutMs, tool }: StepOptions): CheckedOptions {
  if (once && retry !== undefined) {
    throw new TypeError('A step with `once` runs at most once, so that it takes no `retry`.');
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new TypeError(`timeoutMs must be more than 0 and at most ${MAX_TIMER_MS} ms.`);
  }
  return {
    retry: withRetryDefaults(retry ?? { attempts: 1 }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    tool: tool === undefined ? null : checkTool(tool),
  };
}

function checkTool({ toolCallId, name, input }: Tool): Tool {
  if (![toolCallId, name].every((text) => typeof text === 'string' && text.length <= MAX_TOOL_NAME_LENGTH)) {
    throw new TypeError(`tool.toolCallId and tool.name must be strings of at most ${MAX_TOOL_NAME_LENGTH} characters.`);
  }
  const text = jsonText(input);
  if (utf8Bytes(text) > MAX_EVENT_BYTES) throw new TypeError(`tool.input may hold ${MAX_EVENT_BYTES} bytes of JSON.`);
  return { toolCallId, name, input: JSON.parse(text) };
}

/**
 * Runs the step's function, again after a failure that may pass, and reports each attempt's start and end. What the last
 * one came to reaches the agent when it is on disk: the value as its JSON says it, or the very error that was thrown.
 */
export async function performStep<T>(copy: Copy, step: Step, result: Deferred<T>): Promise<void> {
  const { retry, timeoutMs } = step.options;
  for (let n = 1; ; n++) {
    const attempt = new StepAttempt(copy, { name: step.key, attempt: n }, step.says);
    copy.beginBody(attempt.controller);
    await reportStart(copy, attempt, step);
    if (!copy.isOpen) return;
    const startedAt = performance.now();
    const outcome = await attempt.perform((handle) => step.body(handle, attempt), step.idempotencyKey, timeoutMs);
    const ms = Math.round(performance.now() - startedAt);
    // What it has begun and not awaited must not go on beside the next attempt.
    if (!outcome.ok) attempt.controller.abort(outcome.error);
    const retryInMs = outcome.ok ? null : retryDelay(outcome.error, n, retry);
    const settlement = settlementOf(attempt, outcome, step.options.tool, ms, retryInMs);
    if (retryInMs === null) {
      copy.report(settlement, { onAcknowledged: (at) => copy.deliver(at, () => settle(result, outcome)) });
      return copy.finishBody(attempt.controller);
    }
    copy.report(settlement);
    await delay(retryInMs, undefined, { ref: false });
    copy.finishBody(attempt.controller);
  }
}

/** Resolves when the report has left the thread: then the function may run. */
function reportStart(copy: Copy, { ref, message }: StepAttempt, { options: { tool } }: Step): Promise<void> {
  const messageId = message?.id ?? null;
  return new Promise((onSent) => copy.report({ kind: 'startStep', step: ref, messageId, tool }, { onSent }));
}

function settlementOf(
  { ref, message }: StepAttempt,
  result: AttemptResult,
  tool: Tool | null,
  ms: number,
  retryInMs: number | null,
): CopyReport {
  const common = { kind: 'settleStep', step: ref, ms, message } as const;
  if (result.ok) return { ...common, outcome: { status: 'completed' }, tool: tool && returned(tool, result.json) };
  const error = taskError('agent_error', errorMessage(result.error));
  const failed = tool && { toolCallId: tool.toolCallId, error };
  return { ...common, outcome: { status: 'failed', error, retryInMs }, tool: failed };
}

/** What is told of a tool's output: the agent may have a value that is too large to be told. */
function returned({ toolCallId }: Tool, json: string): EventData['tool.returned'] {
  if (utf8Bytes(json) > MAX_EVENT_BYTES) return { toolCallId, output: null, truncated: true };
  return { toolCallId, output: JSON.parse(json) };
}

function settle<T>(result: Deferred<T>, outcome: AttemptResult): void {
  if (outcome.ok) result.resolve(JSON.parse(outcome.json));
  else result.reject(outcome.error);
}
