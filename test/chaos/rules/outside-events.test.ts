import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { goodStory, PARENT } from './good-story.ts';
import { changed, type Happened, is, retold, without } from './hand-made-log.ts';
import { outsideEvents } from './outside-events.ts';

const judged = (story: Story) => Array.from(outsideEvents.judge(story), ({ text }) => text);

function twice(chosen: (event: Happened) => boolean): Story {
  return retold(goodStory(), (log) => log.flatMap((event) => (chosen(event) ? [event, event] : [event])));
}

describe('events from outside steps', () => {
  test('are not lost', () => {
    expect(judged(without(goodStory(), is('chaos.heard')))).toEqual([
      `${PARENT} tells at place 3 what is not that.`,
      `The code of ${PARENT} has told 5 events, and the log has 4; at place 3 they differ.`,
    ]);
    expect(judged(without(goodStory(), is('chaos.child')))).toEqual([
      `The code of ${PARENT} has told 5 events, and the log has 4; at place 5 they differ.`,
    ]);
  });

  test('are not told twice', () => {
    expect(judged(twice(is('task.progress')))).toContain(`${PARENT} tells at place 3 what is not that.`);
    expect(judged(twice(is('chaos.told')))).toContain(`${PARENT} tells at place 2 what is not that.`);
  });

  test('keep the order of their branch', () => {
    expect(judged(changed(goodStory(), is('chaos.heard'), { b: 3 }))).toContain(
      `${PARENT} tells at place 3 what is not that.`,
    );
  });

  test('are what the code told in its last attempt too', () => {
    expect(judged(changed(goodStory(), is('chaos.told'), { chance: 0.5 }))).toEqual([
      `The code of ${PARENT} has told 5 events, and the log has 5; at place 1 they differ.`,
    ]);
  });
});

describe('events from inside a step', () => {
  test('are told once in each attempt, and under it', () => {
    expect(judged(twice(is('chaos.inside')))).toEqual([
      `${PARENT} tells 1 behind 1 from inside main.step-0 1.`,
      `${PARENT} tells 1 behind 1 from inside main.step-0 2.`,
    ]);
    expect(judged(changed(goodStory(), is('chaos.inside'), { attempt: 3 }))).toHaveLength(2);
  });

  test('are all there when it is completed', () => {
    expect(judged(changed(goodStory(), is('chaos.inside'), { of: 2 }))).toEqual([
      `${PARENT} lost events from inside main.step-0.`,
    ]);
  });
});
