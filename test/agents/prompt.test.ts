import { expect, test } from 'vitest';
import { callsAsText } from '../../src/agents/calls-as-text.ts';
import { assistantMessages, type ShownCall, toPrompt, userMessage } from '../../src/agents/prompt.ts';

function shown(toolCallId: string, name: string): ShownCall {
  return { toolCallId, name, input: { at: 'sea' }, result: { ok: true, output: `by ${toolCallId}` } };
}

function partsOf(calls: ShownCall[]) {
  const messages = calls.flatMap((call) => assistantMessages({ text: '' }, [call]));
  return toPrompt('', messages).flatMap(({ content }): readonly object[] =>
    typeof content === 'string' ? [] : content,
  );
}

test.each([
  ['no-such tool#1!', 'no-such_tool_1_'],
  ['x'.repeat(255), 'x'.repeat(64)],
  ['', 'unnamed'],
  ['get_weather', 'get_weather'],
])('a tool that the model named %j is told as one that servers take', (name, told) => {
  expect(partsOf([shown('a', name)])).toMatchObject([
    { type: 'tool-call', toolName: told },
    { type: 'tool-result', toolName: told },
  ]);
});

test('calls and their results have the same ids of the prompt, whatever the model gave them', () => {
  const long = `call-${'x'.repeat(200)}`;

  expect(partsOf([shown(long, 'look'), shown('call_1', 'look'), shown('', 'look')])).toMatchObject([
    { type: 'tool-call', toolCallId: 'call_1' },
    { type: 'tool-result', toolCallId: 'call_1', output: { value: `by ${long}` } },
    { type: 'tool-call', toolCallId: 'call_2' },
    { type: 'tool-result', toolCallId: 'call_2', output: { value: 'by call_1' } },
    { type: 'tool-call', toolCallId: 'call_3' },
    { type: 'tool-result', toolCallId: 'call_3', output: { value: 'by ' } },
  ]);
});

test('calls and results become text where no tools are offered', () => {
  const failed: ShownCall = { ...shown('b', 'dive'), result: { ok: false, message: 'Too cold.' } };
  const messages = [
    userMessage('Where?'),
    ...assistantMessages({ text: 'I look.', reasoning: 'Hm.' }, [shown('a', 'look'), failed]),
    ...assistantMessages({ text: 'By the sea.' }, []),
  ];

  const called =
    'I look.\n\n(I called the tool look with {"at":"sea"}. It gave: by a)\n\n' +
    '(I called the tool dive with {"at":"sea"}. It gave: Too cold.)';
  expect(callsAsText(messages)).toEqual([
    userMessage('Where?'),
    { role: 'assistant', content: [{ type: 'text', text: called }] },
    { role: 'assistant', content: [{ type: 'text', text: 'By the sea.' }] },
  ]);
});
