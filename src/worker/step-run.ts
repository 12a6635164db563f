import { setTimeout as delay } from 'node:timers/promises';
import { failpoint } from '../failpoint.ts';
import type { StepHandle } from '../model/agent.ts';
import { type EventData, MAX_EVENT_BYTES } from '../model/event.ts';
import { utf8Bytes } from '../model/json.ts';
import { taskError } from '../model/task-error.ts';
import type { Copy } from './copy.ts';
import type { Asked } from './deliveries.ts';
import { errorMessage } from './error-message.ts';
import type { CopyReport } from './protocol.ts';
import { retryDelay } from './retry.ts';
import { type AttemptResult, StepAttempt } from './step-attempt.ts';
import { toStepFailure, uncertainty } from './step-failure.ts';
import type { CheckedOptions, Tool } from './step-options.ts';

type Settlement = Extract<CopyReport, { kind: 'settleStep' }>;

/** What the agent asked a step to do, checked. */
export interface Step {
  key: string;
  idempotencyKey: string;
  /** Whether the step streams a message from its beginning. */
  says: boolean;
  body(handle: StepHandle, attempt: StepAttempt): unknown;
  options: CheckedOptions;
}

/** The JSON text that a step's row gets: of its value, or of its failure. `thrown`: what it comes from. */
export interface Settled {
  text: string;
  thrown?: unknown;
}

/** Runs the step's function, again after a failure that may pass, and reports each attempt's start and end. */
export async function runStep(
  copy: Copy,
  step: Step,
  { askedAt, row }: Asked,
  onSettled: (settled: Settled) => void,
): Promise<void> {
  const { retry, timeoutMs, once, tool } = step.options;
  const before = row?.tries ?? 0;
  for (let n = 1; ; n++) {
    const attempt = new StepAttempt(copy, { name: step.key, attempt: before + n }, step.says);
    copy.beginStep(attempt.controller);
    await mayBegin(copy, attempt, step, askedAt);
    if (!copy.isOpen) return;
    failpoint?.('step-started-not-run');
    const startedAt = performance.now();
    const outcome = await attempt.perform((handle) => step.body(handle, attempt), step.idempotencyKey, timeoutMs);
    failpoint?.('step-run-not-settled');
    const ms = Math.round(performance.now() - startedAt);
    // What it has begun and not awaited must not go on beside the next attempt.
    if (!outcome.ok) attempt.controller.abort(outcome.error);
    const retryInMs = outcome.ok ? null : retryDelay(outcome.error, n, retry);
    const settled = settledBy(outcome);
    if (retryInMs === null) onSettled(settled);
    const { ref, message } = attempt;
    copy.report({
      kind: 'settleStep',
      step: ref,
      askedAt,
      once,
      ms,
      message,
      ...told(outcome, settled.text, tool, retryInMs),
    });
    if (retryInMs === null) return copy.finishStep(attempt.controller);
    failpoint?.('step-not-retried');
    await delay(retryInMs, undefined, { ref: false });
    copy.finishStep(attempt.controller);
  }
}

/** Reports a failure in place of running the function. */
export function settleUncertain(
  copy: Copy,
  { key, options: { tool } }: Step,
  { askedAt, row }: Asked,
  onSettled: (settled: Settled) => void,
): void {
  const failure = uncertainty(key);
  const text = JSON.stringify(failure);
  onSettled({ text });
  copy.report({
    kind: 'settleStep',
    step: { name: key, attempt: Math.max(row?.tries ?? 0, 1) },
    askedAt,
    once: true,
    ms: 0,
    message: null,
    ...told({ ok: false, error: failure }, text, tool, null),
  });
}

/** Resolves when the function may run: when the start has left the thread, and is on disk where it may run only once. */
function mayBegin(
  copy: Copy,
  { ref, message }: StepAttempt,
  { options: { tool, once } }: Step,
  askedAt: number,
): Promise<void> {
  const messageId = message?.id ?? null;
  return new Promise((resolve) => {
    const hooks = once ? { onAcknowledged: resolve } : { onSent: resolve };
    copy.report({ kind: 'startStep', step: ref, askedAt, once, messageId, tool }, hooks);
  });
}

function settledBy(outcome: AttemptResult): Settled {
  if (outcome.ok) return { text: outcome.json };
  return { text: JSON.stringify(toStepFailure(outcome.error)), thrown: outcome.error };
}

function told(
  outcome: AttemptResult,
  text: string,
  tool: Tool | null,
  retryInMs: number | null,
): Pick<Settlement, 'outcome' | 'tool'> {
  if (outcome.ok) return { outcome: { status: 'completed', value: text }, tool: tool && returned(tool, text) };
  const error = taskError('agent_error', errorMessage(outcome.error));
  const failed = tool && { toolCallId: tool.toolCallId, error };
  return { outcome: { status: 'failed', error, failure: text, retryInMs }, tool: failed };
}

/** What is told of a tool's output: the agent may have a value that is too large to be told. */
function returned({ toolCallId }: Tool, json: string): EventData['tool.returned'] {
  if (utf8Bytes(json) > MAX_EVENT_BYTES) return { toolCallId, output: null, truncated: true };
  return { toolCallId, output: JSON.parse(json) };
}
