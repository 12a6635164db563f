import type { LanguageModelV3Message, LanguageModelV3Prompt, LanguageModelV3ToolResultPart } from '@ai-sdk/provider';
import type { Json } from '../model/json.ts';
import { cutText } from './cut-text.ts';
import type { ToolResult } from './tool-call.ts';

type Of<Role> = Extract<LanguageModelV3Message, { role: Role }>;
/** A message of a prompt that is not the system's. */
export type PromptMessage = Of<'user' | 'assistant' | 'tool'>;

/** One call of a tool as a prompt shows it: always together with what came of it. */
export interface ShownCall {
  toolCallId: string;
  name: string;
  input: Json;
  result: ToolResult;
}

/** What servers take for the name of a tool, also of one that there never was. */
const NOT_OF_A_NAME = /[^a-zA-Z0-9_-]/g;
const MAX_NAME_LENGTH = 64;

/** So much of one result, in UTF-16 units: a tool may give a whole book, and the model must still be able to answer. */
const MAX_RESULT_LENGTH = 100_000;

export function userMessage(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** What the model has said and called, and what came of that. Nothing at all, where it said and called nothing. */
export function assistantMessages(
  { text, reasoning = '' }: { text: string; reasoning?: string },
  calls: readonly ShownCall[],
): PromptMessage[] {
  const content: Of<'assistant'>['content'] = [
    ...(reasoning === '' || calls.length === 0 ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ toolCallId, name, input }) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName: fittingName(name),
      input: argumentsOf(input),
    })),
  ];
  if (content.length === 0) return [];
  const results = calls.map(resultPart);
  return [
    { role: 'assistant', content },
    ...(results.length === 0 ? [] : [{ role: 'tool' as const, content: results }]),
  ];
}

/**
 * A prompt that every model takes: it begins with a user, and no two of the same role follow each other. Texts of one role
 * become one text. Calls have ids of the prompt's own, since servers refuse long ones: `call_1`, `call_2` and so on.
 */
export function toPrompt(system: string, messages: readonly PromptMessage[]): LanguageModelV3Prompt {
  const joined: PromptMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      joined[joined.length - 1] = userMessage(`${textOf(last)}\n\n${textOf(message)}`);
    } else if (last?.role === 'assistant' && message.role === 'assistant') {
      // Providers put the texts of a message together as they are.
      const gap = { type: 'text' as const, text: '\n\n' };
      joined[joined.length - 1] = { role: 'assistant', content: [...last.content, gap, ...message.content] };
    } else joined.push(message);
  }
  return [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...withOwnIds(joined)];
}

/** The same without what the model thought aloud, which some servers refuse to be shown. */
export function withoutReasoning(messages: readonly PromptMessage[]): PromptMessage[] {
  return messages.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') }
      : message,
  );
}

export function hasReasoning(messages: readonly PromptMessage[]): boolean {
  return messages.some(({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'reasoning'));
}

/** The ids of all calls in what becomes a prompt. */
export function toolCallIds(messages: readonly PromptMessage[]): Set<string> {
  const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(parts.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : [])));
}

function textOf({ content }: Of<'user'>): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function withOwnIds(messages: readonly PromptMessage[]): PromptMessage[] {
  const ids = new Map<string, string>();
  let made = 0;
  const ownId = (id: string) => {
    const own = `call_${++made}`;
    ids.set(id, own);
    return own;
  };
  return messages.map((message): PromptMessage => {
    if (message.role === 'user') return message;
    if (message.role === 'assistant') {
      const content = message.content.map((part) =>
        part.type === 'tool-call' ? { ...part, toolCallId: ownId(part.toolCallId) } : part,
      );
      return { role: 'assistant', content };
    }
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, toolCallId: ids.get(part.toolCallId) ?? part.toolCallId } : part,
    );
    return { role: 'tool', content };
  });
}

function fittingName(name: string): string {
  return name.replaceAll(NOT_OF_A_NAME, '_').slice(0, MAX_NAME_LENGTH) || 'unnamed';
}

/** Models take arguments as an object alone, whatever one has given. */
function argumentsOf(input: Json): Json {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { value: input };
}

function resultPart({ toolCallId, name, result }: ShownCall): LanguageModelV3ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName: fittingName(name), output: outputOf(result) };
}

function outputOf(result: ToolResult): LanguageModelV3ToolResultPart['output'] {
  if (!result.ok) return { type: 'error-text', value: bounded(result.message) };
  if (typeof result.output === 'string') return { type: 'text', value: bounded(result.output) };
  const text = JSON.stringify(result.output);
  if (text.length > MAX_RESULT_LENGTH) return { type: 'text', value: bounded(text) };
  return { type: 'json', value: result.output };
}

function bounded(text: string): string {
  const shown = cutText(text, MAX_RESULT_LENGTH);
  return shown === text ? text : `${shown}… (${text.length - shown.length} more characters are not shown)`;
}
