import type { AskSpec } from '../model/agent.ts';
import { isDeeperThan, type Json, MAX_JSON_DEPTH, utf8Bytes } from '../model/json.ts';
import { cutText } from './cut-text.ts';
import { approvalOf } from './question-tool.ts';
import type { StreamedCall } from './streamed-answer.ts';
import type { AssistantTool } from './tool.ts';

/**
 * A call that a model wants, and how it is to be made. Decided in the step that called the model, and kept in its value:
 * so it is made in the same way again, whatever has become of the tools meanwhile.
 */
export interface PlannedCall {
  /** Its own among all that the model is shown. */
  toolCallId: string;
  name: string;
  input: Json;
  /** Why it cannot be made, in plain words for the model; null when it can. */
  fault: string | null;
  /** What people are asked first; null when nothing. */
  ask: AskSpec | null;
  timeoutMs?: number;
  once?: boolean;
}

/** What a step may tell clients of its tool. */
const MAX_NAME_LENGTH = 255;
/** How much of arguments that are no JSON is shown to the model again, in UTF-16 units. */
const MAX_UNREADABLE_LENGTH = 4000;
/** Arguments are kept within the value of a step, inside of a question's metadata at the deepest. */
const MAX_INPUT_DEPTH = MAX_JSON_DEPTH - 8;
/** The arguments of all calls of one answer together, as JSON: the value of a step has room for no more than 1 MiB. */
const MAX_INPUT_BYTES = 256 * 1024;

/** @param taken ids that the model has been shown already: some servers number anew in each answer */
export async function planCalls(
  calls: readonly StreamedCall[],
  tools: readonly AssistantTool[],
  taken: ReadonlySet<string>,
): Promise<PlannedCall[]> {
  const ids = new Set(taken);
  const planned: PlannedCall[] = [];
  let room = MAX_INPUT_BYTES;
  for (const call of calls) {
    const toolCallId = ownId(call.toolCallId, ids);
    ids.add(toolCallId);
    const name = cutText(call.name, MAX_NAME_LENGTH);
    const read = readArguments(call.input, room);
    if (read.ok) room -= read.bytes;
    planned.push({ toolCallId, name, ...(await plan(call, read, tools)) });
  }
  return planned;
}

/** The id itself, or with the first number behind it that makes it one that is not taken. */
export function ownId(id: string, taken: ReadonlySet<string>): string {
  const short = cutText(id === '' ? 'call' : id, MAX_NAME_LENGTH - 8);
  let own = short;
  for (let n = 2; taken.has(own); n++) own = `${short}-${n}`;
  return own;
}

type Plan = Omit<PlannedCall, 'toolCallId' | 'name'>;

type ReadArguments = { ok: true; input: Json; bytes: number } | { ok: false; message: string };

async function plan(
  { name, input: text }: StreamedCall,
  read: ReadArguments,
  tools: readonly AssistantTool[],
): Promise<Plan> {
  if (!read.ok) {
    const input = { unreadable: cutText(text, MAX_UNREADABLE_LENGTH) };
    return { input, ask: null, fault: `The arguments cannot be read: ${read.message} Call the tool again.` };
  }
  const { input } = read;
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return { input, ask: null, fault: unknownTool(name, tools) };
  try {
    const parsed = await tool.parse(input);
    if (!parsed.ok) return { input, ask: null, fault: `The arguments do not fit. ${parsed.message}` };
    if (tool.kind === 'question') return { input, fault: null, ask: tool.toAsk(parsed.input) };
    const ask = (await tool.needsApproval(parsed.input)) ? approvalOf(tool, input) : null;
    const { timeoutMs, once = false } = tool;
    return { input, fault: null, ask, once, ...(timeoutMs !== undefined && { timeoutMs }) };
  } catch (error) {
    return { input, ask: null, fault: `The call could not be prepared: ${String(error)}` };
  }
}

/** @param room for its JSON, in bytes: numbers may be longer there than in the model's text */
function readArguments(text: string, room: number): ReadArguments {
  const tooLong = `They are too long: those of one answer may have ${MAX_INPUT_BYTES} bytes together.`;
  if (text.length > MAX_INPUT_BYTES) return { ok: false, message: tooLong };
  try {
    const input: Json = text.trim() === '' ? {} : JSON.parse(text);
    if (isDeeperThan(input, MAX_INPUT_DEPTH)) {
      return { ok: false, message: `They nest deeper than ${MAX_INPUT_DEPTH}.` };
    }
    if (hasInfinity(input)) return { ok: false, message: 'A number in them is too large.' };
    const bytes = utf8Bytes(JSON.stringify(input));
    return bytes > room ? { ok: false, message: tooLong } : { ok: true, input, bytes };
  } catch (error) {
    return { ok: false, message: `They are not JSON. ${String(error)}.` };
  }
}

/** `JSON.parse` makes it of `1e999`, and it is no JSON. */
function hasInfinity(value: Json): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

function unknownTool(name: string, tools: readonly AssistantTool[]): string {
  if (tools.length === 0) return `There is no tool ${JSON.stringify(name)}, and no other.`;
  return `There is no tool ${JSON.stringify(name)}. There are: ${tools.map((tool) => tool.name).join(', ')}.`;
}
