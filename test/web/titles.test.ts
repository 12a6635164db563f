import { describe, expect, test } from 'vitest';
import { documentTitle } from '../../src/web/document-title.ts';
import { titleOf, titleWords } from '../../src/web/nav/title-words.ts';
import { EMPTY_OVERVIEW } from '../../src/web/overview/overview-state.ts';
import { ALL_TASKS } from '../../src/web/route.ts';
import { resumeCommand } from '../../src/web/task/resume-command.ts';
import { questionOf } from './question-example.ts';

test.each([
  ['Plan a weekend', 'Plan a weekend'],
  ['  First   line \nSecond line', 'First line'],
  [
    'Tell me everything that there is to know about the harbours of the north and their tides',
    'Tell me everything that there is to know about the harbours…',
  ],
  ['x'.repeat(80), `${'x'.repeat(60)}…`],
])('a conversation that begins with %j is called %j', (message, title) => {
  expect(titleOf(message)).toBe(title);
});

test.each([
  [null, /^Conversation of .*\b1\b.*\d:\d\d/],
  ['  ', /^Conversation of .*\b1\b.*\d:\d\d/],
  ['Lisbon', /^Lisbon$/],
])('a conversation with the title %j is shown as %s', (title, words) => {
  expect(titleWords({ title, createdAt: '2026-12-01T12:00:00.000Z' })).toMatch(words);
});

describe('the title of the page', () => {
  const conversation = {
    id: 'conv_1',
    title: 'Lisbon',
    metadata: {},
    createdAt: '2026-12-01T12:00:00.000Z',
    lastActivityAt: '',
  };
  const state = { ...EMPTY_OVERVIEW, conversations: new Map([['conv_1', conversation]]) };

  test('says what is shown', () => {
    expect(documentTitle({ page: 'conversation', id: 'conv_1' }, state)).toBe('Lisbon · Holdfast');
    expect(documentTitle({ page: 'tasks', filter: ALL_TASKS }, state)).toBe('Tasks · Holdfast');
    expect(documentTitle({ page: 'conversations' }, state)).toBe('Holdfast');
  });

  test('says how many questions wait', () => {
    const questions = new Map([['qst_1', questionOf()]]);

    expect(documentTitle({ page: 'inbox' }, { ...state, questions })).toBe('(1) Inbox · Holdfast');
  });
});

test('a task is resumed behind an event by a command', () => {
  expect(resumeCommand('http://127.0.0.1:4747', 'task_1', 'k3f9x2ab.117')).toBe(
    "curl -N 'http://127.0.0.1:4747/v1/tasks/task_1/events?after=k3f9x2ab.117'",
  );
});
