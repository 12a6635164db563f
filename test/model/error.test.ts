import { expect, test } from 'vitest';
import { HoldfastError } from '../../src/model/error.ts';
import { taskError } from '../../src/model/task-error.ts';

test('carries a code for programs and a message for people', () => {
  const error = new HoldfastError('cursor_gone', 'The cursor was pruned.', { reason: 'expired', resumeAfter: '0' });

  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    ...{ name: 'HoldfastError', code: 'cursor_gone', message: 'The cursor was pruned.' },
    details: { reason: 'expired', resumeAfter: '0' },
  });
});

test('has no details unless it is given some', () => {
  expect(new HoldfastError('not_found', 'There is no such task.').details).toEqual({});
});

test('keeps a message of 1 KiB whole', () => {
  const message = 'é'.repeat(512);

  expect(taskError('agent_error', message)).toEqual({ code: 'agent_error', message });
});

test('[T1] cuts a longer message at a code point and says so, so that a task can always end', () => {
  const { message, truncated } = taskError('agent_error', `a${'🌊'.repeat(256)}`);

  expect(message).toBe(`a${'🌊'.repeat(255)}`);
  expect(truncated).toBe(true);
});
