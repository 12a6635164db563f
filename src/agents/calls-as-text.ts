import type { LanguageModelV3ToolResultPart } from '@ai-sdk/provider';
import type { PromptMessage } from './prompt.ts';

/**
 * The same without calls of tools, whose results stand as text in what the assistant has said: servers refuse calls in a
 * prompt that offers no tools.
 */
export function callsAsText(messages: readonly PromptMessage[]): PromptMessage[] {
  const outputs = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) if (part.type === 'tool-result') outputs.set(part.toolCallId, textOf(part));
  }
  return messages.flatMap((message): PromptMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role === 'user' || message.content.every(({ type }) => type !== 'tool-call')) return [message];
    const texts = message.content.flatMap((part) => {
      if (part.type === 'text') return part.text;
      if (part.type !== 'tool-call') return [];
      const result = outputs.get(part.toolCallId) ?? 'nothing';
      return `(I called the tool ${part.toolName} with ${JSON.stringify(part.input)}. It gave: ${result})`;
    });
    return [{ role: 'assistant', content: [{ type: 'text', text: texts.join('\n\n') }] }];
  });
}

function textOf({ output }: LanguageModelV3ToolResultPart): string {
  if (!('value' in output)) return 'nothing';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}
