import type { ChatRequest, Wire } from '../support/openai-stub.ts';

/** How often the model has been answered by tools in what it is shown since the last user: 0 at its first call. */
export function roundsOf({ messages }: ChatRequest): number {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(from + 1).filter(({ role, tool_calls }) => role === 'assistant' && tool_calls).length;
}

/** What the tools have given back since the last user. */
export function resultsOf({ messages }: ChatRequest): (string | null)[] {
  const from = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(from + 1).flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

export async function say(wire: Wire, ...pieces: string[]): Promise<void> {
  await wire.text(...pieces);
  await wire.finish('stop');
}

/** Calls tools, each by its name and its arguments. */
export async function call(wire: Wire, ...calls: [name: string, input: unknown][]): Promise<void> {
  const round = roundsOf(wire.request);
  for (const [index, [name, input]] of calls.entries()) {
    const text = JSON.stringify(input);
    await wire.call(index, `call_${round}_${index}`, name, text.slice(0, 3), text.slice(3));
  }
  await wire.finish('tool_calls');
}

/** What the model is told of whether it may call tools. */
export function toolChoiceOf(request: ChatRequest): unknown {
  return 'tool_choice' in request ? request.tool_choice : undefined;
}
