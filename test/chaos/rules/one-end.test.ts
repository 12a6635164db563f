import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { CANCELLED, CHILD, FAILING, goodStory, PARENT } from './good-story.ts';
import { again, is, retold, without } from './hand-made-log.ts';
import { oneEnd } from './one-end.ts';

const judged = (story: Story) => Array.from(oneEnd.judge(story), ({ text }) => text);

describe('one end', () => {
  test('is not two', () => {
    expect(judged(again(goodStory(), is('task.failed')))).toEqual([
      `${FAILING} has 2 ends.`,
      `${FAILING} goes on behind its end.`,
    ]);
  });

  test('is the last of the task', () => {
    expect(judged(again(goodStory(), is('task.started', FAILING)))).toEqual([`${FAILING} goes on behind its end.`]);
  });

  test('is what the task shows', () => {
    const story = goodStory();
    const tasks = story.tasks.map((task) => (task.id === CANCELLED ? { ...task, status: 'running' as const } : task));

    expect(judged({ ...story, tasks })).toEqual([`${CANCELLED} is not shown as it ended.`]);
    expect(judged(without(story, is('task.failed')))).toEqual([`${FAILING} is not shown as it ended.`]);
  });

  test('comes behind those of the children', () => {
    const late = retold(goodStory(), (log) => {
      const end = log.filter(is('task.completed', CHILD));
      return [...log.filter((event) => !end.includes(event)), ...end];
    });

    expect(judged(late)).toEqual([`${CHILD} did not end before its parent.`]);
  });

  test('is of a task that is in the log from its creation and among the tasks', () => {
    const story = goodStory();

    expect(judged({ ...story, tasks: story.tasks.slice(1) })).toEqual([
      `${PARENT} is in the log and not among the tasks.`,
    ]);
    expect(judged(without(story, is('task.created', FAILING)))).toEqual([
      `${FAILING} does not begin by being created.`,
    ]);
    expect(judged(without(story, ({ taskId }) => taskId === FAILING))).toEqual([
      `${FAILING} is among the tasks and not in the log.`,
    ]);
  });
});
