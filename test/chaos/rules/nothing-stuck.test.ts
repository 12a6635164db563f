import { expect, test } from 'vitest';
import type { Task } from '../../../src/model/task.ts';
import { goodStory } from './good-story.ts';
import { nothingStuck } from './nothing-stuck.ts';

test('a task that does not go on is found', () => {
  const story = goodStory();
  const [task] = story.tasks;
  const stuck = [{ ...(task as Task), status: 'queued' as const }];

  const [finding, more] = nothingStuck.judge({ ...story, stuck });

  expect(finding?.text).toBe('task_parent is queued and does not go on.');
  expect(more).toBeUndefined();
});
