import { expect, test } from 'vitest';
import { isTurnLane, keyLane, laneOfChild, turnLane } from '../../src/model/lane.ts';
import { givenRunningTask, givenTurn, TASK } from './given.ts';

test('keeps the lanes of keys and of conversations apart, whatever the key', () => {
  const ofKey = keyLane('turn conv_a');

  expect(ofKey).not.toBe(turnLane('conv_a'));
  expect([ofKey, turnLane('conv_a')].map((lane) => isTurnLane(lane ?? ''))).toEqual([false, true]);
  expect(keyLane(null)).toBeNull();
});

test('puts a child in the lane of its turn, and in no other', () => {
  expect(laneOfChild(givenTurn().task(TASK))).toBe('turn conv_a');
  expect(laneOfChild(givenRunningTask({ concurrencyKey: 'ann' }).task(TASK))).toBeNull();
  expect(laneOfChild(givenRunningTask().task(TASK))).toBeNull();
});
