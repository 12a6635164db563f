import { type Json, utf8Bytes } from '../model/json.ts';
import { MAX_OUTPUT_BYTES } from '../model/task.ts';
import { taskError } from '../model/task-error.ts';
import type { Copy } from './copy.ts';
import type { Agent } from './define-agent.ts';
import { errorMessage, errorStack } from './error-message.ts';
import { createHandle } from './handle.ts';
import { parseInput } from './input-schema.ts';
import { jsonText } from './json-text.ts';
import type { Command, CopyReport } from './protocol.ts';

type Start = Extract<Command, { kind: 'start' }>;
type Ending = Extract<CopyReport, { kind: 'end' }>['ending'];

/**
 * Runs the agent's code over a copy, from its input to its end. Never rejects.
 *
 * @param onThrown told where the code threw, which its task's error does not say
 */
export async function runAgent(
  copy: Copy,
  agent: Agent | undefined,
  start: Start,
  onThrown: (stack: string) => void,
): Promise<void> {
  copy.end(await endingOf(copy, agent, start, onThrown));
}

async function endingOf(
  copy: Copy,
  agent: Agent | undefined,
  start: Start,
  onThrown: (stack: string) => void,
): Promise<Ending> {
  if (agent === undefined)
    return { status: 'failed', error: taskError('unknown_agent', `No agent is named "${start.agent}".`) };
  const input = await parseInput(agent, start.input);
  if (!input.ok) {
    const faults = input.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    return { status: 'failed', error: taskError('invalid_input', faults.join('; ')) };
  }
  try {
    return endingWith(await agent.run(createHandle(copy, start, input.value), input.value));
  } catch (error) {
    onThrown(errorStack(error));
    return { status: 'failed', error: taskError('agent_error', errorMessage(error)) };
  }
}

function endingWith(value: unknown): Ending {
  try {
    return { status: 'completed', output: checkOutput(value) };
  } catch (error) {
    return { status: 'failed', error: taskError('invalid_output', `The output is no good: ${errorMessage(error)}`) };
  }
}

function checkOutput(value: unknown): Json {
  const text = jsonText(value);
  if (utf8Bytes(text) > MAX_OUTPUT_BYTES) throw new RangeError(`it may hold ${MAX_OUTPUT_BYTES} bytes of JSON.`);
  return JSON.parse(text);
}
