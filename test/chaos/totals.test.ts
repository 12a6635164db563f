import { expect, test } from 'vitest';
import { goodStory } from './rules/good-story.ts';
import { Totals } from './totals.ts';

test('totals count what was seen, and how long it took until the server and its tasks were back', () => {
  const totals = new Totals();

  totals.add(goodStory());

  expect(totals.counts).toEqual({
    events: 35,
    kills: 1,
    stops: 1,
    tasks: 4,
    questions: 1,
    answers: 1,
    recovered: 1,
  });
  expect(totals.text).toMatch(/from kill to ready p50 3 ms, p99 3 ms; from ready to begun again p50 9 ms, p99 9 ms$/);
});
