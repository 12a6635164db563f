import type { TurnEntry } from '../model/agent.ts';
import type { EventData } from '../model/event.ts';

type ToolEntry = TurnEntry & { kind: 'tool' };

/** An event that tells what was said or done in a turn. */
export interface Told {
  type: 'message.completed' | 'tool.called' | 'tool.returned';
  data: string;
}

/**
 * What was said and done in a turn, in the order in which it came.
 *
 * @param own ids of the turn's messages: one that was sent to it, and not taken, has begun a turn, and is told there
 */
export function entriesOf(events: readonly Told[], own: ReadonlySet<string>): TurnEntry[] {
  const entries: TurnEntry[] = [];
  const tools = new Map<string, ToolEntry>();
  for (const { type, data } of events) {
    if (type === 'message.completed') {
      const { message }: EventData['message.completed'] = JSON.parse(data);
      if (!own.has(message.id)) continue;
      const { role, content, status } = message;
      entries.push({ kind: 'message', role, content, status });
    } else if (type === 'tool.called') {
      // Another attempt calls it again, in the same place.
      const { toolCallId, name, input }: EventData['tool.called'] = JSON.parse(data);
      const earlier = tools.get(toolCallId);
      if (earlier !== undefined) earlier.outcome = { status: 'unfinished' };
      else {
        const entry: ToolEntry = { kind: 'tool', toolCallId, name, input, outcome: { status: 'unfinished' } };
        tools.set(toolCallId, entry);
        entries.push(entry);
      }
    } else {
      const returned: EventData['tool.returned'] = JSON.parse(data);
      const tool = tools.get(returned.toolCallId);
      if (tool !== undefined) tool.outcome = outcomeOf(returned);
    }
  }
  return entries;
}

function outcomeOf(returned: EventData['tool.returned']): ToolEntry['outcome'] {
  if ('error' in returned) return { status: 'failed', error: returned.error };
  const { output, truncated } = returned;
  return { status: 'returned', output, ...(truncated && { truncated }) };
}
