import type { Question, QuestionItem } from '../../src/client/index.ts';

export const MONTH: Extract<QuestionItem, { type: 'choice' }> = {
  id: 'month',
  type: 'choice',
  prompt: 'Which month?\nThere are three flights.',
  header: null,
  required: true,
  multiple: false,
  allowOther: true,
  default: null,
  options: [
    { value: 'may', label: 'May' },
    { value: 'june', label: 'June', description: 'cheapest' },
    { value: 'july', label: 'July' },
  ],
};

export const NOTES: Extract<QuestionItem, { type: 'text' }> = {
  id: 'notes',
  type: 'text',
  prompt: 'Anything else?',
  header: 'Notes',
  required: false,
  minLength: 3,
  maxLength: 10,
  default: null,
};

export const BUDGET: Extract<QuestionItem, { type: 'number' }> = {
  id: 'budget',
  type: 'number',
  prompt: 'How much?',
  header: null,
  required: true,
  minimum: 10,
  maximum: 500,
  integer: true,
  default: null,
};

export const AGREED: Extract<QuestionItem, { type: 'boolean' }> = {
  id: 'agreed',
  type: 'boolean',
  prompt: 'Agreed?',
  header: null,
  required: true,
  default: null,
};

export function questionOf(change: Partial<Question> = {}): Question {
  return {
    id: 'qst_1',
    taskId: 'task_1',
    conversationId: 'conv_1',
    name: 'dates',
    status: 'pending',
    items: [MONTH],
    metadata: {},
    answers: null,
    resolvedBy: null,
    reason: null,
    askedAt: '2026-12-01T12:00:00.000Z',
    expiresAt: null,
    resolvedAt: null,
    ...change,
  };
}
