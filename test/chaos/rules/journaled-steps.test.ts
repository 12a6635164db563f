import { describe, expect, test } from 'vitest';
import type { Effect } from '../agents/effects.ts';
import type { Life } from '../history.ts';
import type { Story } from '../story.ts';
import { goodStory, PARENT } from './good-story.ts';
import { changed, EPOCH_MS, type Happened, is, retold } from './hand-made-log.ts';
import { journaledSteps } from './journaled-steps.ts';

const judged = (story: Story) => Array.from(journaledSteps.judge(story), ({ text }) => text);
const STEP = `${PARENT} main.step-0`;

/** The good story with one more run of the step with two attempts, or of the one that may run once. */
function run(more: Partial<Effect>, of = 1): Story {
  const story = goodStory();
  const effect = { ...(story.effects[of] as Effect), nonce: 'again', ...more };
  return { ...story, effects: [...story.effects, effect] };
}

describe('journaled steps', () => {
  test('do not run again', () => {
    expect(judged(run({ pid: 3, at: EPOCH_MS + 80 }))).toEqual([
      `${STEP} ran again though it is settled.`,
      `${STEP} came to nonce-1, not to its last run.`,
    ]);
  });

  test('may run once more where a process had stood still and could not know, but only then', () => {
    const late = (pauses: Life['pauses']) => {
      const story = run({ pid: 3, at: EPOCH_MS + 80 });
      return judged({ ...story, lives: [...story.lives, { ...(story.lives[1] as Life), pid: 3, pauses }] });
    };

    expect(late([{ from: EPOCH_MS - 5000, to: EPOCH_MS - 900 }])).toEqual([]);
    expect(late([{ from: EPOCH_MS - 5000, to: EPOCH_MS - 1000 }])).toHaveLength(2);
    expect(late([{ from: EPOCH_MS - 5000, to: null }])).toHaveLength(2);
  });

  test('do not go on in the log', () => {
    const started: Happened = { type: 'step.started', taskId: PARENT, data: { name: 'main.step-0', attempt: 3 } };

    expect(judged(retold(goodStory(), (log) => [...log, started]))).toEqual([`${STEP} goes on though it is settled.`]);
  });

  test('have run', () => {
    const story = goodStory();

    expect(judged({ ...story, effects: story.effects.slice(0, 2) })).toEqual([
      `${PARENT} main.once-0 is completed and never ran.`,
    ]);
  });

  test('came to what their last run gave', () => {
    expect(judged(run({ pid: 3, at: EPOCH_MS + 46 }))).toEqual([`${STEP} came to nonce-1, not to its last run.`]);
  });

  test('have higher attempts each time', () => {
    const isSecond = (event: Happened) => is('step.started')(event) && event.data.attempt === 2;

    expect(judged(changed(goodStory(), isSecond, { attempt: 1 }))).toEqual([
      `${STEP} has attempt 1 behind 1.`,
      `${STEP} has attempt 2 behind 1.`,
    ]);
  });

  test('ran again in the same life only after a failed attempt', () => {
    const twice = (attempt: number) => run({ at: EPOCH_MS + 46, nonce: 'nonce-1', attempt });
    const failed: Happened = {
      ms: 46,
      type: 'step.failed',
      taskId: PARENT,
      data: { name: 'main.step-0', attempt: 2, retryInMs: 5 },
    };
    const third: Happened = { type: 'step.started', taskId: PARENT, data: { name: 'main.step-0', attempt: 3 } };
    const explained = retold(twice(3), (log) =>
      log.flatMap((event) => {
        const isEnd = is('step.completed')(event) && event.data.name === 'main.step-0';
        return isEnd ? [failed, third, { ...event, ms: 50, data: { ...event.data, attempt: 3 } }] : [event];
      }),
    );

    expect(judged(twice(2))).toEqual([`${STEP} ran twice for no reason.`]);
    expect(judged(twice(3))).toEqual([`${STEP} ran twice for no reason.`]);
    expect(judged(explained)).toEqual([]);
  });

  test('run again in the next life as often as the last one was cut off in them', () => {
    const first = run({ pid: 1, attempt: 1, at: EPOCH_MS + 24 }, 0);
    const effects = [
      first.effects[3],
      { ...first.effects[3], attempt: 2, at: EPOCH_MS + 26 },
      ...first.effects.slice(1, 3),
    ];

    expect(judged({ ...first, effects: effects as Effect[] })).toEqual([]);
  });

  test('run again when a later attempt of the task has to, and not before', () => {
    const failed = { name: 'main.step-0', attempt: 2, retryInMs: null };
    const begun: Happened = { type: 'step.started', taskId: PARENT, data: { name: 'main.step-0', attempt: 1 } };
    const retried = (ms: number) =>
      retold(run({ pid: 2, at: EPOCH_MS + ms, nonce: 'nonce-1' }), (log) =>
        log.flatMap((event) => {
          if (!is('step.completed')(event) || event.data.name !== 'main.step-0') return [event];
          const retrying = { ms: 55, type: 'task.retrying', taskId: PARENT, data: {} };
          return [
            { ...event, type: 'step.failed', data: failed },
            retrying,
            begun,
            { ...event, ms: 58, data: { ...begun.data } },
          ];
        }),
      );

    expect(judged(retried(56))).toEqual([]);
    expect(judged(retried(52))).toEqual([
      `${STEP} ran again though it is settled.`,
      `${STEP} ran twice for no reason.`,
    ]);
  });

  test('ran at most once where they may only once', () => {
    expect(judged(run({ pid: 1, at: EPOCH_MS + 51, nonce: 'nonce-2' }, 2))).toEqual([
      `${PARENT} main.once-0 may run once, and ran 2 times.`,
    ]);
  });
});
