import { describe, expect, test } from 'vitest';
import type { Life } from '../history.ts';
import type { Story } from '../story.ts';
import { goodStory } from './good-story.ts';
import { orderlyLives } from './orderly-lives.ts';

/** What is found of the last life when it ended so. */
function judged(end: Partial<Life>): string[] {
  const story = goodStory();
  const lives = story.lives.with(-1, { ...(story.lives.at(-1) as Life), ...end });
  return Array.from(orderlyLives.judge({ ...story, lives } satisfies Story), ({ text }) => text);
}

describe('orderly lives', () => {
  test('do not end by themselves, unless the nemesis has seen to it', () => {
    expect(judged({ endedBy: 'itself', code: 1 })).toEqual(['Life 2 ended by itself with 1.']);
    expect(judged({ endedBy: 'itself', code: null, signal: 'SIGKILL', mayEndItself: true })).toEqual([]);
  });

  test('end with 0 when they are asked to', () => {
    expect(judged({ endedBy: 'stop', code: 1 })).toEqual(['Life 2 was asked to end, and ended with 1.']);
    expect(judged({ endedBy: 'stop', code: 0, toldToEndAt: 0, endedAt: 10_001 })).toEqual([
      'Life 2 took 10001 ms to end.',
    ]);
  });
});
