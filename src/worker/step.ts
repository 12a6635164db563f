import { setTimeout as delay } from 'node:timers/promises';
import type { RetryOptions, StepHandle, StepOptions } from '../model/agent.ts';
import { taskError } from '../model/task-error.ts';
import type { Copy } from './copy.ts';
import type { Deferred } from './deferred.ts';
import { errorMessage } from './error-message.ts';
import { jsonText } from './json-text.ts';
import type { CopyReport } from './protocol.ts';
import { MAX_TIMER_MS, retryDelay, withRetryDefaults } from './retry.ts';
import { type RunResult, StepRun } from './step-run.ts';

type Tool = NonNullable<StepOptions['tool']>;

/** What the agent asked a step to do, checked. */
export interface Step {
  key: string;
  idempotencyKey: string;
  /** Whether the step streams a message from its beginning. */
  says: boolean;
  body(handle: StepHandle, run: StepRun): unknown;
  options: CheckedOptions;
}

export interface CheckedOptions {
  retry: Required<RetryOptions>;
  timeoutMs?: number;
  tool: Tool | null;
}

/** @throws TypeError naming the option that breaks a rule */
export function checkStepOptions({ retry, timeoutMs, tool }: StepOptions): CheckedOptions {
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
  if (typeof toolCallId !== 'string' || typeof name !== 'string') {
    throw new TypeError('tool.toolCallId and tool.name must be strings.');
  }
  return { toolCallId, name, input: JSON.parse(jsonText(input)) };
}

/**
 * Runs the step's function, again after a failure that may pass, and reports each run's start and end. What the last
 * one came to reaches the agent when it is on disk: the value as its JSON says it, or the very error that was thrown.
 */
export async function performStep<T>(copy: Copy, step: Step, result: Deferred<T>): Promise<void> {
  const { retry, timeoutMs } = step.options;
  for (let attempt = 1; ; attempt++) {
    const run = new StepRun(copy, { name: step.key, attempt }, step.says);
    copy.beginBody(run.controller);
    await reportStart(copy, run, step);
    if (!copy.isOpen) return;
    const startedAt = performance.now();
    const outcome = await run.perform((handle) => step.body(handle, run), step.idempotencyKey, timeoutMs);
    const ms = Math.round(performance.now() - startedAt);
    const retryInMs = outcome.ok ? null : retryDelay(outcome.error, attempt, retry);
    const settlement = settlementOf(run, outcome, step.options.tool, ms, retryInMs);
    if (retryInMs === null) {
      copy.report(settlement, { onAcknowledged: (at) => copy.deliver(at, () => settle(result, outcome)) });
      return copy.finishBody(run.controller);
    }
    copy.report(settlement);
    await delay(retryInMs, undefined, { ref: false });
    copy.finishBody(run.controller);
  }
}

/** Resolves when the report has left the thread: then the function may run. */
function reportStart(copy: Copy, run: StepRun, { options: { tool } }: Step): Promise<void> {
  const messageId = run.message?.id ?? null;
  return new Promise((onSent) => copy.report({ kind: 'startStep', step: run.ref, messageId, tool }, { onSent }));
}

function settlementOf(
  run: StepRun,
  result: RunResult,
  tool: Tool | null,
  ms: number,
  retryInMs: number | null,
): CopyReport {
  const common = { kind: 'settleStep', step: run.ref, ms, message: run.message } as const;
  if (result.ok) {
    const returned = tool && { toolCallId: tool.toolCallId, output: JSON.parse(result.json) };
    return { ...common, outcome: { status: 'completed' }, tool: returned };
  }
  const error = taskError('agent_error', errorMessage(result.error));
  const failed = tool && { toolCallId: tool.toolCallId, error };
  return { ...common, outcome: { status: 'failed', error, retryInMs }, tool: failed };
}

function settle<T>(result: Deferred<T>, outcome: RunResult): void {
  if (outcome.ok) result.resolve(JSON.parse(outcome.json));
  else result.reject(outcome.error);
}
