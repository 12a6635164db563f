import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { CHILD, goodStory, PARENT } from './good-story.ts';
import { changed, is, retold, without } from './hand-made-log.ts';
import { heardChildren } from './heard-children.ts';

const judged = (story: Story) => Array.from(heardChildren.judge(story), ({ text }) => text);

describe('heard children', () => {
  test('are spawned once', () => {
    const twice = retold(goodStory(), (log) =>
      log.flatMap((event) => (is('task.created', CHILD)(event) ? [event, { ...event, taskId: 'task_twin' }] : [event])),
    );

    expect(judged(twice)).toEqual(['ticket-1/main.child-0 was spawned 2 times.']);
  });

  test('are there', () => {
    const lost = without(goodStory(), is('task.created', CHILD));

    expect(new Set(judged(lost))).toEqual(new Set([`${PARENT} has spawned ${CHILD}, which is no child of its.`]));
  });

  test('ended as was heard, and before', () => {
    const heard = [`${PARENT} heard of ${CHILD} what is not so.`];

    expect(judged(changed(goodStory(), is('chaos.child'), { status: 'failed' }))).toEqual(heard);
    expect(judged(without(goodStory(), is('task.completed', CHILD)))).toEqual(heard);
    expect(judged(changed(goodStory(), is('task.completed', CHILD), { output: 'another' }))).toEqual(heard);
  });
});
