import { expect, test } from 'vitest';
import { askUserQuestions } from '../../src/agents/ask-user-questions.ts';
import { createAssistant } from '../../src/agents/create-assistant.ts';

test('an assistant is named assistant unless its author says otherwise', () => {
  expect(createAssistant()).toMatchObject({ name: 'assistant', version: '1' });
  expect(createAssistant({ name: 'shop', version: '2' })).toMatchObject({ name: 'shop', version: '2' });
});

test.each([
  [{ tools: [askUserQuestions, askUserQuestions] }, 'Assistant "assistant" has two tools named "ask_user_questions".'],
  [{ maxSteps: 0 }, 'maxSteps of assistant "assistant" must be a whole number, 1 or more.'],
  [{ maxSteps: 2.5 }, 'maxSteps of assistant "assistant" must be a whole number, 1 or more.'],
])('a definition with %o is refused with the rule', (definition, message) => {
  expect(() => createAssistant(definition)).toThrow(new TypeError(message));
});
