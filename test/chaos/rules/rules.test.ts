import { expect, test } from 'vitest';
import { goodStory } from './good-story.ts';
import { judge } from './rules.ts';

test('no rule has anything against a good story', () => {
  expect(judge(goodStory())).toEqual([]);
});
