import { describe, expect, test } from 'vitest';
import { toPrompt } from '../../src/agents/prompt.ts';
import { estimateTokens, newestTurns, turnsToMessages } from '../../src/agents/turns-to-messages.ts';
import type { ToolOutcome, Turn, TurnEntry } from '../../src/model/agent.ts';

function said(role: 'user' | 'assistant', content: string, status: 'complete' | 'partial' = 'complete'): TurnEntry {
  return { kind: 'message', role, content, status };
}

function tool(toolCallId: string, outcome: ToolOutcome): TurnEntry {
  return { kind: 'tool', toolCallId, name: 'look', input: { at: 'sea' }, outcome };
}

function turn(entries: TurnEntry[], status: Turn['status'] = 'completed'): Turn {
  return { taskId: 'task_1', status, entries };
}

/** A prompt in one line a message. */
function lines(...turns: Turn[]): string[] {
  return toPrompt('', [...turnsToMessages(turns)]).map((message) => {
    const parts = typeof message.content === 'string' ? [] : message.content;
    const texts = parts.map((part) => {
      switch (part.type) {
        case 'text':
          return part.text;
        case 'tool-call':
          return `call ${part.toolCallId}`;
        case 'tool-result':
          return `result ${part.toolCallId} ${JSON.stringify('value' in part.output ? part.output.value : null)}`;
        default:
          return part.type;
      }
    });
    return `${message.role}: ${texts.join(' | ')}`;
  });
}

describe('the turns before', () => {
  test('become what was said, each call with its result', () => {
    const talk = turn([
      said('user', 'Where?'),
      said('assistant', 'I look.'),
      tool('a', { status: 'returned', output: { sea: true } }),
      tool('b', { status: 'failed', error: { code: 'agent_error', message: 'It is dark.' } }),
      said('assistant', 'By the sea.'),
    ]);

    expect(lines(talk)).toEqual([
      'user: Where?',
      'assistant: I look. | call call_1 | call call_2',
      'tool: result call_1 {"sea":true} | result call_2 "It is dark."',
      'assistant: By the sea.',
    ]);
  });

  test('have unfinished calls closed, and say how they ended', () => {
    const cancelled = turn([said('user', 'Where?'), tool('a', { status: 'unfinished' })], 'cancelled');

    expect(lines(cancelled, turn([said('user', 'Well?'), said('assistant', 'Here.')]))).toEqual([
      'user: Where?',
      'assistant: call call_1',
      'tool: result call_1 "The turn ended before this call did. It may have had an effect."',
      'assistant: (I did not finish this: my turn was cancelled.)',
      'user: Well?',
      'assistant: Here.',
    ]);
  });

  test.each([
    ['completed', '(I gave no answer to this.)'],
    ['failed', '(I could not finish this: an error ended my turn.)'],
    ['cancelled', '(I did not finish this: my turn was cancelled.)'],
    ['running', '(I have not finished this yet.)'],
  ] as const)('that are %s and said nothing are told truthfully, and empty texts are left out', (status, note) => {
    expect(lines(turn([said('user', 'Hm?'), said('assistant', '')], status))).toEqual([
      'user: Hm?',
      `assistant: ${note}`,
    ]);
  });

  test('keep what was partly said, and where it broke off', () => {
    const failed = turn([said('user', 'Count.'), said('assistant', 'One, two', 'partial')], 'failed');

    expect(lines(failed)).toEqual([
      'user: Count.',
      'assistant: One, two… | \n\n | (I could not finish this: an error ended my turn.)',
    ]);
  });

  test('hold a message that was sent meanwhile in its place', () => {
    const steered = turn([
      said('user', 'Where?'),
      tool('a', { status: 'returned', output: null, truncated: true }),
      said('user', 'Be short.'),
      said('user', 'And kind.'),
      said('assistant', 'Sea!'),
    ]);

    expect(lines(steered)).toEqual([
      'user: Where?',
      'assistant: call call_1',
      'tool: result call_1 "It returned more than was kept of this turn."',
      'user: Be short.\n\nAnd kind.',
      'assistant: Sea!',
    ]);
  });

  test('begin with a user even where nobody wrote', () => {
    expect(lines(turn([said('assistant', 'Good morning.')]))[0]).toBe('user: (There is no message.)');
  });

  test('that gave the same ids to their calls have them told apart', () => {
    const calls = turn([
      said('user', 'Go.'),
      tool('call_0', { status: 'returned', output: 1 }),
      said('assistant', 'Gone.'),
    ]);

    expect(lines(calls, calls).filter((line) => line.includes('call_'))).toEqual([
      'assistant: call call_1',
      'tool: result call_1 1',
      'assistant: call call_2',
      'tool: result call_2 1',
    ]);
  });
});

describe('a budget of tokens', () => {
  const turns = ['a', 'b', 'c'].map((letter) => turn([said('user', letter.repeat(400)), said('assistant', 'So.')]));

  test('keeps the newest turns whole', () => {
    const [, , newest] = turns;

    expect(newestTurns(turns, estimateTokens(turns.slice(1)) + 10)).toEqual(turns.slice(1));
    expect(newestTurns(turns, estimateTokens(turns.slice(2)) * 1.5)).toEqual([newest]);
    expect(newestTurns(turns, 10)).toEqual([]);
  });

  test('of half of what there is leaves out one turn at least', () => {
    expect(newestTurns(turns.slice(2), estimateTokens(turns.slice(2)) / 2)).toEqual([]);
  });

  test('that the newest turn alone is over keeps it without what its tools returned', () => {
    const found = tool('a', { status: 'returned', output: 'x'.repeat(4000) });
    const long = turn([said('user', 'Look.'), found, said('assistant', 'I saw it.')]);

    const kept = newestTurns([...turns, long], 500);

    expect(lines(...kept)).toEqual([
      'user: Look.',
      'assistant: call call_1',
      'tool: result call_1 "It returned more than was kept of this turn."',
      'assistant: I saw it.',
    ]);
    expect(newestTurns(kept, estimateTokens(kept) / 2)).toEqual([]);
  });

  test('counts four characters as a token, about', () => {
    expect(estimateTokens(turns.slice(2))).toBeGreaterThan(100);
    expect(estimateTokens(turns.slice(2))).toBeLessThan(180);
  });
});
