import { type Json, utf8Bytes } from '../model/json.ts';
import { MAX_OUTPUT_BYTES } from '../model/task.ts';
import { taskError } from '../model/task-error.ts';
import type { Copy, Ending } from './copy.ts';
import type { Agent } from './define-agent.ts';
import { errorMessage, errorStack } from './error-message.ts';
import { createHandle } from './handle.ts';
import { parseInput } from './input-schema.ts';
import { jsonText } from './json-text.ts';
import type { Command } from './protocol.ts';

/**
 * Runs the agent's code over a copy, from its input to its end. Never rejects.
 *
 * @param onThrown told where the code threw, which its task's error does not say
 */
export async function runAgent(
  copy: Copy,
  agent: Agent | undefined,
  start: Extract<Command, { kind: 'start' }>,
  onThrown: (stack: string) => void,
): Promise<void> {
  if (agent === undefined) {
    return copy.fail(taskError('unknown_agent', `No agent is named "${start.agent}".`));
  }
  const input = await parseInput(agent, start.input);
  if (!input.ok) {
    const faults = input.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    return copy.fail(taskError('invalid_input', faults.join('; ')));
  }
  try {
    copy.end(endingWith(copy.isOpen ? await agent.run(createHandle(copy, start, input.value), input.value) : null));
  } catch (error) {
    if (copy.isOpen) onThrown(errorStack(error));
    copy.fail(taskError('agent_error', errorMessage(error)), copy.cutBefore(error));
  }
}

function endingWith(value: unknown): Ending {
  try {
    return { status: 'completed', output: checkOutput(value) };
  } catch (error) {
    const fault = taskError('invalid_output', `The output is no good: ${errorMessage(error)}`);
    return { status: 'failed', error: fault, cut: null };
  }
}

function checkOutput(value: unknown): Json {
  const text = jsonText(value);
  if (utf8Bytes(text) > MAX_OUTPUT_BYTES) throw new RangeError(`it may hold ${MAX_OUTPUT_BYTES} bytes of JSON.`);
  return JSON.parse(text);
}
