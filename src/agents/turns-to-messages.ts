import type { ToolOutcome, Turn, TurnEntry } from '../model/agent.ts';
import { ownId } from './planned-call.ts';
import { assistantMessages, type PromptMessage, type ShownCall, userMessage } from './prompt.ts';
import type { ToolResult } from './tool-call.ts';

/** About how many characters a token has. */
const TOKEN_LENGTH = 4;

/** What a model is told of the turns before: every call with its result, and truthfully how each turn ended. */
export function turnsToMessages(turns: readonly Turn[]): PromptMessage[] {
  const ids = new Set<string>();
  return turns.flatMap((turn) => {
    const messages = entriesToMessages(turn.entries, ids);
    const asked = messages[0]?.role === 'user' ? [] : [userMessage('(There is no message.)')];
    const note = noteOf(turn);
    return [...asked, ...messages, ...assistantMessages({ text: note }, [])];
  });
}

/**
 * The newest turns that are at most about so many tokens together, oldest first. Where the newest alone has more, it is
 * kept without what its tools returned; none is kept when that is too much as well.
 */
export function newestTurns(turns: readonly Turn[], maxTokens: number): Turn[] {
  let left = maxTokens;
  let from = turns.length;
  for (const turn of turns.toReversed()) {
    left -= estimateTokens([turn]);
    if (left < 0) break;
    from--;
  }
  const newest = turns.at(-1);
  if (newest === undefined || from < turns.length) return turns.slice(from);
  const bare = withoutOutputs(newest);
  return estimateTokens([bare]) <= maxTokens ? [bare] : [];
}

function withoutOutputs(turn: Turn): Turn {
  const entries = turn.entries.map((entry): TurnEntry => {
    if (entry.kind !== 'tool' || entry.outcome.status !== 'returned') return entry;
    return { ...entry, outcome: { status: 'returned', output: null, truncated: true } };
  });
  return { ...turn, entries };
}

export function estimateTokens(turns: readonly Turn[]): number {
  return Math.ceil(JSON.stringify(turnsToMessages(turns)).length / TOKEN_LENGTH);
}

/** @param ids of calls that stand before: turns may have given the same ones */
function entriesToMessages(entries: readonly TurnEntry[], ids: Set<string>): PromptMessage[] {
  const messages: PromptMessage[] = [];
  let text = '';
  let calls: ShownCall[] = [];
  const endAnswer = () => {
    messages.push(...assistantMessages({ text }, calls));
    text = '';
    calls = [];
  };
  for (const entry of entries) {
    if (entry.kind === 'tool') {
      const toolCallId = ownId(entry.toolCallId, ids);
      ids.add(toolCallId);
      calls.push({ toolCallId, name: entry.name, input: entry.input, result: resultOf(entry.outcome) });
      continue;
    }
    if (entry.content === '') continue;
    endAnswer();
    if (entry.role === 'user') messages.push(userMessage(entry.content));
    else text = entry.status === 'complete' ? entry.content : `${entry.content}…`;
  }
  endAnswer();
  return messages;
}

function resultOf(outcome: ToolOutcome): ToolResult {
  switch (outcome.status) {
    case 'returned':
      if (outcome.truncated) return { ok: true, output: 'It returned more than was kept of this turn.' };
      return { ok: true, output: outcome.output };
    case 'failed':
      return { ok: false, message: outcome.error.message };
    case 'unfinished':
      return { ok: false, message: 'The turn ended before this call did. It may have had an effect.' };
  }
}

/** How the turn ended, where its entries do not show that; else empty. */
function noteOf({ status, entries }: Turn): string {
  const hasAnswer = entries.some(
    (entry) => entry.kind === 'message' && entry.role === 'assistant' && entry.content !== '',
  );
  switch (status) {
    case 'completed':
      return hasAnswer ? '' : '(I gave no answer to this.)';
    case 'failed':
      return '(I could not finish this: an error ended my turn.)';
    case 'cancelled':
      return '(I did not finish this: my turn was cancelled.)';
    default:
      return '(I have not finished this yet.)';
  }
}
