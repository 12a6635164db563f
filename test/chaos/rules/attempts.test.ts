import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { attempts } from './attempts.ts';
import { FAILING, goodStory, PARENT } from './good-story.ts';
import { changed, is } from './hand-made-log.ts';

const judged = (story: Story) => Array.from(attempts.judge(story), ({ text }) => text);

describe('attempts', () => {
  test('count from 1', () => {
    expect(judged(changed(goodStory(), is('task.started', FAILING), { attempt: 2 }))).toEqual([
      `${FAILING} begins with attempt 2 behind 0.`,
    ]);
  });

  test('are never the same twice', () => {
    expect(judged(changed(goodStory(), is('task.started', PARENT), { attempt: 1 }))).toEqual([
      `${PARENT} begins with attempt 1 behind 1.`,
    ]);
  });
});
