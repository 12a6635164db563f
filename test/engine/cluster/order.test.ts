import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isTerminal } from '../../../src/model/task.ts';
import { ScriptedCopy } from './scripted-copy.ts';
import { openSharedStore } from './shared-store.ts';

const shared = openSharedStore({ now: () => 1 });
let owners = 0;
afterAll(() => shared.base.close());

type Move = (copy: ScriptedCopy) => unknown;

const REPORTS: Record<string, Move> = {
  emit: (copy) => copy.emit(),
  ask: (copy) => copy.ask(),
  step: (copy) => copy.step(),
  wait: (copy) => copy.wait(),
};
const OTHERS: Record<string, Move> = {
  'answer here': (copy) => copy.answer('here'),
  'answer there': (copy) => copy.answer('there'),
  look: (copy) => copy.look(),
  'hear of a commit': (copy) => copy.answers.letOne(),
  'go on reading': (copy) => copy.readings.letOne(),
  claim: (copy) => copy.copies.get(copy.taskId)?.status === 'waiting' && copy.claim(),
};
/** What ends it for the copy. */
const ENDS: Record<string, Move> = { steal: (copy) => copy.steal(), cancel: (copy) => copy.cancel() };
const MOVES = { ...REPORTS, ...OTHERS };

function moves(names: readonly string[]) {
  return fc.array(fc.constantFrom(...names), { minLength: 10, maxLength: 60 });
}

/** A copy that has asked to wait says nothing more until it was answered. */
async function play(names: readonly string[]): Promise<ScriptedCopy> {
  const copy = new ScriptedCopy(shared, `owner-${++owners}`);
  await copy.begin();
  for (const name of names) {
    if (name in REPORTS && copy.status !== 'running') continue;
    await (MOVES[name] ?? ENDS[name])?.(copy);
    await null;
  }
  await copy.settle();
  return copy;
}

test('tells a copy all that was resolved anywhere, each once, in the order of the store, and before what came later', async () => {
  await fc.assert(
    fc.asyncProperty(moves(Object.keys(MOVES)), async (names) => {
      const copy = await play(names);
      try {
        expect(copy.isAcknowledged).toBe(true);
        copy.look();
        await copy.settle();
        if (copy.copies.get(copy.taskId)?.status === 'waiting') copy.claim();
        await copy.settle();

        expect(copy.faults).toEqual([]);
        expect(copy.overtaking()).toEqual([]);
        expect(copy.cuts).toEqual([]);
        const places = await copy.places();
        expect(copy.told).toEqual(copy.status === 'running' ? places : places.slice(0, copy.told.length));
      } finally {
        copy.close();
      }
    }),
    { numRuns: 100 },
  );
});

test('drops a copy whose task was taken or has ended elsewhere, whatever is on its way meanwhile', async () => {
  const ends = Object.keys(ENDS);
  await fc.assert(
    fc.asyncProperty(moves(Object.keys(MOVES)), moves([...Object.keys(OTHERS), ...ends]), async (before, then) => {
      const copy = await play([...before, ...then, 'look']);
      try {
        const { status, node } = await copy.record();
        const isOver = isTerminal(status) || node !== copy.here.node;

        expect(copy.copies.get(copy.taskId) === undefined).toBe(isOver);
        expect(copy.status === 'dropped').toBe(isOver);
        expect(copy.faults).toEqual([]);
        expect(copy.overtaking()).toEqual([]);
        const places = await copy.places();
        expect(copy.told).toEqual(places.slice(0, copy.told.length));
        if (copy.status === 'running') expect(copy.told).toEqual(places);
      } finally {
        copy.close();
      }
    }),
    { numRuns: 100 },
  );
});
