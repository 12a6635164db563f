import type { CallToolResult } from '@ai-sdk/mcp';
import { cutText } from './cut-text.ts';

const MAX_TEXT_LENGTH = 50_000;

/**
 * What a tool of an MCP server gave, as text for the model. Pictures and files are named and left out.
 *
 * @throws Error with that text when the tool says that it has failed
 */
export function resultText(result: CallToolResult): string {
  const text = textOf(result);
  const shown = cutText(text, MAX_TEXT_LENGTH);
  const told = shown === text ? text : `${shown}\n\n(It is longer: these are its first ${shown.length} characters.)`;
  if (result.isError === true) throw new Error(told || 'The tool has failed, and does not say why.');
  return told;
}

function textOf(result: CallToolResult): string {
  if (!Array.isArray(result.content)) return JSON.stringify(result.toolResult ?? null);
  if (result.content.length === 0 && 'structuredContent' in result) return JSON.stringify(result.structuredContent);
  return result.content.map(partText).join('\n');
}

type Part = Extract<CallToolResult, { content: unknown }>['content'][number];

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
      return `(a picture, ${part.mimeType}, which is not shown here)`;
    case 'resource_link':
      return `${part.name}: ${part.uri}`;
    case 'resource':
      return 'text' in part.resource
        ? `${part.resource.uri}:\n${part.resource.text}`
        : `(the file ${part.resource.uri})`;
    default:
      return '(something that cannot be shown here)';
  }
}
