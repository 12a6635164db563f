import type { RetryOptions, StepOptions } from '../model/agent.ts';
import { MAX_EVENT_BYTES } from '../model/event.ts';
import { utf8Bytes } from '../model/json.ts';
import { jsonText } from './json-text.ts';
import { checkOptions } from './known-options.ts';
import { MAX_TIMER_MS, withRetryDefaults } from './retry.ts';

export type Tool = NonNullable<StepOptions['tool']>;

const MAX_TOOL_NAME_LENGTH = 255;

/** How a step is to be performed, with every default filled in. */
export interface CheckedOptions {
  retry: Required<RetryOptions>;
  once: boolean;
  timeoutMs?: number;
  tool: Tool | null;
}

/** @throws TypeError naming the option that breaks a rule */
export function checkStepOptions(options: StepOptions): CheckedOptions {
  checkOptions('A step', options, ['retry', 'once', 'timeoutMs', 'tool']);
  const { retry, once = false, timeoutMs, tool } = options;
  if (typeof once !== 'boolean') throw new TypeError('once must be true or false.');
  if (once && retry !== undefined) {
    throw new TypeError('A step with `once` runs at most once, so that it takes no `retry`.');
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new TypeError(`timeoutMs must be more than 0 and at most ${MAX_TIMER_MS} ms.`);
  }
  return {
    retry: withRetryDefaults(retry ?? { attempts: 1 }),
    once,
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
