import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { goodStory, PARENT } from './good-story.ts';
import { again, changed, is, retold, without } from './hand-made-log.ts';
import { heardAnswers } from './heard-answers.ts';

const judged = (story: Story) => Array.from(heardAnswers.judge(story), ({ text }) => text);

describe('heard answers', () => {
  test('wake somebody', () => {
    expect(judged(without(goodStory(), is('chaos.heard')))).toEqual([
      `${PARENT} never heard that main.ask-0 was resolved.`,
    ]);
  });

  test('need not wake who was cancelled, or whose end has closed the question', () => {
    const cancelled = retold(without(goodStory(), is('chaos.heard')), (log) =>
      log.map((event) => (is('task.completed', PARENT)(event) ? { ...event, type: 'task.cancelled' } : event)),
    );
    const ended = retold(without(goodStory(), is('chaos.heard')), (log) =>
      log.map((event) => {
        if (!is('question.answered')(event)) return event;
        return { ...event, type: 'question.cancelled', data: { ...event.data, reason: 'task_finished' } };
      }),
    );

    expect(judged(cancelled)).toEqual([]);
    expect(judged(ended)).toEqual([]);
  });

  test('are heard once', () => {
    expect(judged(again(goodStory(), is('chaos.heard')))).toEqual([`${PARENT} heard of main.ask-0 2 times.`]);
  });

  test('are what was answered, and no answer before there was one', () => {
    const reply = { status: 'answered', answers: { way: 'right', note: 'bob:1' }, resolvedBy: 'local' };
    const early = retold(goodStory(), (log) => [
      ...log.filter((event) => !is('question.answered')(event)),
      ...log.filter(is('question.answered')),
    ]);

    expect(judged(changed(goodStory(), is('chaos.heard'), { reply }))).toEqual([
      `${PARENT} heard of main.ask-0 what is not so.`,
    ]);
    expect(judged(changed(goodStory(), is('chaos.heard'), { reply: { status: 'expired' } }))).toHaveLength(1);
    expect(judged(early)).toHaveLength(1);
  });

  test('are of questions that were asked', () => {
    expect(judged(without(goodStory(), is('question.asked')))).toEqual([
      `${PARENT} main.ask-0 was heard of and never asked.`,
    ]);
  });
});
