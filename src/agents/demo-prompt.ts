import type { LanguageModelV3Message, LanguageModelV3Prompt, LanguageModelV3ToolResultPart } from '@ai-sdk/provider';

/** What the demonstration's model makes of a prompt. */
export interface DemoConversation {
  /** What the user wrote before this turn, oldest first; none in the first turn. */
  before: string[];
  /** What the user wrote in this turn, oldest first: more than one when the task was steered. */
  asked: string[];
  /** Every call of this turn that has come back, in its order. */
  results: ToolResult[];
  /** The same of the turns before. */
  earlierResults: ToolResult[];
}

export interface ToolResult {
  name: string;
  text: string;
  isError: boolean;
}

/** Reads a prompt turn by turn: a turn is over once the model has answered without calling a tool. */
export function readConversation(prompt: LanguageModelV3Prompt): DemoConversation {
  const messages = prompt.filter(({ role }) => role !== 'system');
  const answered = messages.findLastIndex((message, at) => isAnswer(message) && messages[at + 1]?.role === 'user');
  const earlier = messages.slice(0, answered + 1);
  const turn = messages.slice(answered + 1);
  return {
    before: earlier.flatMap(userText),
    asked: turn.flatMap(userText),
    results: turn.flatMap(toolResults),
    earlierResults: earlier.flatMap(toolResults),
  };
}

function isAnswer(message: LanguageModelV3Message): boolean {
  return message.role === 'assistant' && message.content.every(({ type }) => type === 'text' || type === 'reasoning');
}

function userText(message: LanguageModelV3Message): string[] {
  if (message.role !== 'user') return [];
  return [message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')];
}

function toolResults(message: LanguageModelV3Message): ToolResult[] {
  if (message.role !== 'tool') return [];
  return message.content.flatMap((part) => (part.type === 'tool-result' ? toResult(part) : []));
}

function toResult({ toolName: name, output }: LanguageModelV3ToolResultPart): ToolResult {
  switch (output.type) {
    case 'text':
      return { name, text: output.value, isError: false };
    case 'error-text':
      return { name, text: output.value, isError: true };
    case 'json':
    case 'error-json': {
      const text = typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
      return { name, text, isError: output.type === 'error-json' };
    }
    case 'execution-denied':
      return { name, text: output.reason ?? 'It was not allowed.', isError: true };
    case 'content':
      return {
        name,
        text: output.value.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n'),
        isError: false,
      };
  }
}
