import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewEvent } from '../../src/model/event.ts';
import { packEvents, unpackEvents } from '../../src/model/event-text.ts';

const events: fc.Arbitrary<NewEvent[]> = fc.array(
  fc.record({
    taskId: fc.constantFrom('task_a', 'task_b'),
    conversationId: fc.constant(null),
    type: fc.constantFrom('note.taken', 'task.progress'),
    step: fc.option(fc.string({ unit: 'binary' }).map((name) => JSON.stringify({ name, attempt: 1 }))),
    data: fc.json(),
  }),
);

test('events come out of one text as they went in, whatever their JSON holds', () => {
  fc.assert(
    fc.property(events, (given) => {
      expect(unpackEvents(packEvents(given))).toEqual(given);
    }),
  );
});

test('no events are no text', () => {
  expect(packEvents([])).toBe('');
  expect(unpackEvents('')).toEqual([]);
});
