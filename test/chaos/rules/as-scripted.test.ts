import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { asScripted } from './as-scripted.ts';
import { CANCELLED, CHILD, FAILING, goodStory, PARENT } from './good-story.ts';
import { changed, is, retold } from './hand-made-log.ts';

const judged = (story: Story) => Array.from(asScripted.judge(story), ({ text }) => text);

describe('a scripted end', () => {
  test('is no failure of the server', () => {
    const error = { code: 'worker_exited', message: 'The server stopped while the task was unfinished.' };
    const bad = changed(goodStory(), is('task.failed'), { error });

    expect(judged(bad)).toEqual([`${FAILING} should be failed, and it ended by task.failed: worker_exited.`]);
  });

  test('has the output of its own script', () => {
    const bad = changed(goodStory(), is('task.completed', PARENT), { output: { ticket: 'ticket-9' } });

    expect(judged(bad)).toEqual([expect.stringContaining(`${PARENT} should be completed`)]);
  });

  test('is cancelled only if somebody asked for that, or in the transaction that ends its parent', () => {
    const story = goodStory();
    const cancelled = (ms: number) =>
      retold(story, (log) =>
        log.flatMap((event) => {
          if (is('task.completed', CHILD)(event)) return [];
          if (!is('task.completed', PARENT)(event)) return [event];
          return [{ ms, type: 'task.cancelled', taskId: CHILD, data: { reason: null } }, event];
        }),
      );

    expect(judged({ ...story, requests: [] })).toEqual([expect.stringContaining(`${CANCELLED} should be completed`)]);
    expect(judged(cancelled(90))).toEqual([]);
    expect(judged(cancelled(89))).toEqual([expect.stringContaining(`${CHILD} should be completed`)]);
  });
});
