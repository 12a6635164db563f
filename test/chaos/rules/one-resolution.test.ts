import { describe, expect, test } from 'vitest';
import type { Request } from '../history.ts';
import type { Story } from '../story.ts';
import { goodStory, PARENT, QUESTION_ID } from './good-story.ts';
import { again, is, retold, without } from './hand-made-log.ts';
import { oneResolution } from './one-resolution.ts';

const judged = (story: Story) => Array.from(oneResolution.judge(story), ({ text }) => text);

/** The good story in which the answer that lost was refused otherwise. */
function refused(edit: (request: Request) => void): Story {
  const story = goodStory();
  const requests = structuredClone(story.requests) as Request[];
  for (const request of requests.filter(({ reply }) => reply?.status === 409)) edit(request);
  return { ...story, requests };
}

describe('one resolution', () => {
  test('is not two', () => {
    expect(judged(again(goodStory(), is('question.answered')))).toEqual([`${QUESTION_ID} is resolved again.`]);
  });

  test('is of a question that is asked once', () => {
    expect(judged(again(goodStory(), is('question.asked')))).toEqual([`main.ask-0 of ${PARENT} is asked again.`]);
    expect(judged(without(goodStory(), is('question.asked')))).toEqual([
      `${QUESTION_ID} is resolved and was not asked before.`,
    ]);
  });

  test('is not asked under the same key by another id', () => {
    const bad = retold(goodStory(), (log) =>
      log.flatMap((event) => {
        if (!is('question.asked')(event)) return [event];
        return [{ ...event, data: { question: { ...event.data.question, id: 'qst_0' } } }, event];
      }),
    );

    expect(judged(bad)).toContain(`main.ask-0 of ${PARENT} is asked again.`);
  });

  test('is what the question shows', () => {
    const story = goodStory();
    const questions = story.questions.map((question) => ({ ...question, answers: { way: 'right' } }));

    expect(judged({ ...story, questions })).toEqual([`${QUESTION_ID} is not shown as it was resolved.`]);
    expect(judged({ ...story, questions: [] })).toEqual([`${QUESTION_ID} was asked and is not among the questions.`]);
  });

  test('is what a rival is told', () => {
    const otherwise = refused(({ reply }) => {
      if (reply !== null) reply.body.question.status = 'expired';
    });

    expect(judged(otherwise)).toEqual([`${QUESTION_ID} was refused to ann by what did not resolve it.`]);
  });

  test('is not refused to who made it', () => {
    const own = refused((request) => {
      request.body = { answers: { way: 'left', note: 'ann:1' } };
    });

    expect(judged(own)).toEqual([`${QUESTION_ID} was refused to ann by what did not resolve it.`]);
  });
});
