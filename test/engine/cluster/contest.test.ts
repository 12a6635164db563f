import { beforeEach, expect, test } from 'vitest';
import { type Contest, createContest } from '../../../src/engine/contest.ts';

let now: number;
let contest: Contest;
beforeEach(() => {
  now = 0;
  contest = createContest({ clock: () => now, random: () => 0.99 });
});

const QUEUE = ['a', 'b', 'c'].map((taskId) => ({ taskId }));

test('leaves alone for a moment what another was faster to claim', () => {
  contest.lost('b');

  expect(contest.open(QUEUE)).toEqual([{ taskId: 'a' }, { taskId: 'c' }]);
  expect(contest.spared).toBe(1);
  now += 200;
  expect(contest.open(QUEUE)).toEqual(QUEUE);
  expect(contest.spared).toBe(0);
});

test('counts the moment from the last time', () => {
  contest.lost('a');
  now += 150;
  contest.lost('a');
  now += 150;

  expect(contest.spared).toBe(1);
});

test('takes what is offered in its order, until somebody else is about', () => {
  expect(contest.begin(10, 3)).toBe(0);

  contest.lost('a');

  expect(contest.begin(10, 3)).toBe(7);
  expect(contest.begin(3, 3)).toBe(0);
  now += 1000;
  expect(contest.begin(10, 3)).toBe(0);
});
