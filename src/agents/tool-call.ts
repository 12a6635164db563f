import type { Reply, StepHandle, TaskHandle } from '../model/agent.ts';
import { type Json, utf8Bytes } from '../model/json.ts';
import type { PlannedCall } from './planned-call.ts';
import { isApproved, refusalText } from './question-tool.ts';
import type { AssistantTool, ToolContext } from './tool.ts';

/** Where an assistant finds its tools. Asked inside of steps alone, so it may take its time and need not say the same again. */
export type ToolSource = (signal: AbortSignal) => Promise<readonly AssistantTool[]>;

/** What came of a call, for the model. `message`: in plain words. */
export type ToolResult = { ok: true; output: Json } | { ok: false; message: string };

/** What a step may tell clients of its tool's input. */
const MAX_TOLD_BYTES = 64 * 1024;
/** A step's name has 64 characters, and these are for the name of the tool. */
const MAX_LABEL_LENGTH = 48;

/**
 * Asks people where the call needs it, and then makes it, as a step. Nothing that goes wrong is thrown: it is for the
 * model to know.
 *
 * @param n the call's number in the task, from 1
 */
export async function makeCall(task: TaskHandle, call: PlannedCall, n: number, tools: ToolSource): Promise<ToolResult> {
  const label = `${n}-${call.name.replaceAll(/[^\w-]/g, '_').slice(0, MAX_LABEL_LENGTH)}`;
  const { toolCallId, name, timeoutMs, once } = call;
  const answer = await askFirst(task, label, call);
  try {
    const output = await task.step(`tool-${label}`, (step) => perform(step, { ...call, ...answer }, tools), {
      tool: { toolCallId, name, input: toldInput(call.input) },
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(once !== undefined && { once }),
    });
    return { ok: true, output };
  } catch (error) {
    return { ok: false, message: failureText(error, call) };
  }
}

/** What people have said, or why they could not be asked: that depends on the question alone. */
async function askFirst(
  task: TaskHandle,
  label: string,
  { ask, fault }: PlannedCall,
): Promise<{ reply: Reply | null; fault: string | null }> {
  if (ask === null) return { reply: null, fault };
  try {
    return { reply: await task.ask(`ask-${label}`, ask), fault };
  } catch (error) {
    return { reply: null, fault: `The question cannot be asked. ${error instanceof Error ? error.message : error}` };
  }
}

async function perform(
  step: StepHandle,
  { toolCallId, name, input, fault, reply }: PlannedCall & { reply: Reply | null },
  tools: ToolSource,
): Promise<Json> {
  if (fault !== null) throw new Error(fault);
  const tool = (await tools(step.signal)).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`The tool ${name} is not there any more.`);
  const parsed = await tool.parse(input);
  if (!parsed.ok) throw new Error(`The arguments do not fit any more. ${parsed.message}`);
  if (tool.kind === 'question') {
    if (reply === null) throw new Error(`The tool ${name} has become another meanwhile.`);
    return tool.toResult(reply, parsed.input);
  }
  if (reply !== null && !isApproved(reply)) return refusalText(reply);
  const { idempotencyKey, attempt, signal, emit, progress } = step;
  const context: ToolContext = { toolCallId, idempotencyKey, attempt, signal, emit, progress };
  // The step checks that it is JSON, and fails otherwise.
  return (await tool.run(parsed.input, context)) as Json;
}

function toldInput(input: Json): Json {
  const bytes = utf8Bytes(JSON.stringify(input));
  return bytes <= MAX_TOLD_BYTES ? input : { omitted: `${bytes} bytes are too much to be shown here.` };
}

function failureText(error: unknown, { timeoutMs }: PlannedCall): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : null;
  if (code === 'step_timeout')
    return `It took longer than ${timeoutMs} ms and was given up. It may have had an effect.`;
  if (code === 'step_uncertain') {
    return 'The server stopped in the middle of this call. Nobody knows how far it came, and it was not repeated.';
  }
  return error.message;
}
