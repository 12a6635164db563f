import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { denseLog } from './dense-log.ts';
import { goodStory } from './good-story.ts';
import { changed, is, without } from './hand-made-log.ts';

const judged = (story: Story) => Array.from(denseLog.judge(story), ({ text }) => text);

describe('a dense log', () => {
  test('has no gap', () => {
    const story = goodStory();
    const log = story.log.filter(({ seq }) => seq !== 7);

    expect(judged({ ...story, log, readings: [] })).toEqual(['Seq 8, as e.8, stands at place 7.']);
  });

  test('says of each seq what readers were told of it', () => {
    const story = goodStory();
    const bad = changed(
      story,
      ({ type, taskId }) => is('task.started', story.log[0]?.taskId)({ type, taskId, data: null }),
      {
        attempt: 7,
      },
    );

    expect(judged(bad)).toContain('The reader "from the beginning" was told otherwise at e.2.');
  });

  test('holds all that readers were told', () => {
    const told = judged(without(goodStory(), is('task.cancelled')));

    expect(told).toEqual(
      ['from the beginning', 'unfinished'].map((name) => `The reader "${name}" was told otherwise at e.35.`),
    );
  });
});
