import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { acknowledged } from './acknowledged.ts';
import { CANCELLED, FAILING, goodStory, PARENT, QUESTION_ID } from './good-story.ts';
import { again, changed, is, without } from './hand-made-log.ts';

const judged = (story: Story) => Array.from(acknowledged.judge(story), ({ text }) => text);

describe('acknowledged', () => {
  test('finds a task that was acknowledged and is gone', () => {
    expect(judged(without(goodStory(), is('task.created', FAILING)))).toEqual([
      'To create ticket-2 was acknowledged, and the log says nothing.',
    ]);
  });

  test('finds a task that has another input than was asked for', () => {
    const bad = changed(goodStory(), is('task.created', PARENT), { input: { ticket: 'ticket-1' } });

    expect(judged(bad)).toEqual([
      expect.stringMatching(/^To create ticket-1 was acknowledged, and the log says {.*}\.$/),
    ]);
  });

  test('finds a request that made two tasks', () => {
    expect(judged(again(goodStory(), is('task.created', PARENT)))).toEqual(['The request ticket-1 has made 2 tasks.']);
  });

  test('finds an answer that was acknowledged and is gone, or is another', () => {
    const gone = without(goodStory(), is('question.answered'));
    const other = changed(goodStory(), is('question.answered'), { answers: { way: 'right', note: 'bob:1' } });

    expect(judged(gone)).toEqual([`To answer ${QUESTION_ID} was acknowledged, and the log says nothing.`]);
    expect(judged(other)).toHaveLength(1);
  });

  test('finds a cancel that was acknowledged and cancelled nothing', () => {
    expect(judged(without(goodStory(), is('task.cancelled')))).toEqual([
      `To cancel ${CANCELLED} was acknowledged, and the log says nothing.`,
    ]);
  });

  test('finds a decline with another reason, but for one that came second', () => {
    const declined = { client: 'bob', verb: 'decline', target: 'qst_2', path: '', key: null } as const;
    const body = { reason: 'no' };
    const story = goodStory();
    const log = again(story, is('question.answered')).log.with(-1, {
      ...(story.log[0] as Story['log'][0]),
      type: 'question.declined',
      data: { questionId: 'qst_2', reason: 'never' },
    });
    const told = (replayed: boolean) => {
      const reply = { status: 200, replayed, body: {} };
      return judged({ ...story, log, requests: [{ ...declined, body, reply, tries: [] }] });
    };

    expect(told(false)).toHaveLength(1);
    expect(told(true)).toEqual([]);
  });

  test('finds a refusal that nothing explains', () => {
    const story = goodStory();
    const [first] = story.requests;
    const refused = { ...first, reply: { status: 500, replayed: false, body: {} } } as Story['requests'][0];

    expect(judged({ ...story, requests: [refused] })).toEqual(['To create ticket-1 was refused with 500.']);
  });
});
