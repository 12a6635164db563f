import { describe, expect, test } from 'vitest';
import { HeldCopies } from '../../src/worker/held-copies.ts';
import { RunnerSamples, UNKNOWN } from '../../src/worker/runner-samples.ts';
import { type Death, ended, exited, lossOf, outOfMemory, suspectsOf } from '../../src/worker/thread-death.ts';

const A = { taskId: 'task_a', fence: 1 };
const B = { taskId: 'task_b', fence: 1 };
const C = { taskId: 'task_c', fence: 1 };

function holding(...leases: { taskId: string; fence: number }[]): HeldCopies {
  const copies = new HeldCopies();
  for (const lease of leases) copies.start(lease);
  return copies;
}

function blameFor(copies: HeldCopies, death: Death) {
  return { culprit: lossOf(copies, death).culprit?.taskId ?? null, suspects: suspectsOf(copies, death) };
}

const cause = new Error('There was no more.');

describe('the death of a thread', () => {
  test('is the doing of the copy whose code ran', () => {
    const loss = lossOf(holding(A, B), outOfMemory(2, cause));

    expect(loss).toEqual({
      copies: [A, B],
      culprit: { ...B, error: { code: 'out_of_memory', message: 'The task has used up the memory of its worker.' } },
      error: { code: 'out_of_memory', message: 'The worker has used up its memory.' },
    });
  });

  test('is the doing of the only copy that it has ever held', () => {
    expect(blameFor(holding(A), outOfMemory(UNKNOWN, cause))).toEqual({ culprit: 'task_a', suspects: [] });
  });

  test('may be the doing of one that has ended, when only one is left', () => {
    const copies = holding(A, B);
    copies.reported({ kind: 'end', ...A, n: 1, ending: { status: 'completed', output: null } });
    copies.commanded({ kind: 'ack', ...A, n: 1 }, 0);

    expect(blameFor(copies, outOfMemory(UNKNOWN, cause))).toEqual({ culprit: null, suspects: ['task_b'] });
  });

  test('makes suspects of all, also of those that were told to stop, when nobody knows', () => {
    const copies = holding(A, B, C);
    copies.commanded({ kind: 'drop', ...B, reason: 'lost' }, 0);

    expect(blameFor(copies, exited(1, null, UNKNOWN))).toEqual({
      culprit: null,
      suspects: ['task_a', 'task_c', 'task_b'],
    });
  });

  test('makes nobody a suspect when it is the doing of a copy that is gone', () => {
    const copies = holding(A, B, C);
    copies.commanded({ kind: 'drop', ...B, reason: 'cancelled' }, 0);

    expect(blameFor(copies, exited(1, null, 2))).toEqual({ culprit: null, suspects: [] });
  });

  test('makes nobody a suspect when it was ended for another reason', () => {
    expect(blameFor(holding(A), ended('It held too much.'))).toEqual({ culprit: null, suspects: [] });
  });
});

describe('samples of who runs', () => {
  const cell = new Int32Array(1);
  function look(samples: RunnerSamples, index: number, times: number): void {
    cell[0] = index;
    for (let i = 0; i < times; i++) samples.look();
  }

  test('show who has run nearly all the time', () => {
    const samples = new RunnerSamples(cell);
    look(samples, 3, 2);
    look(samples, 4, 30);

    expect(samples.busiest).toBe(4);
  });

  test('show nobody where two have run', () => {
    const samples = new RunnerSamples(cell);
    look(samples, 3, 10);
    look(samples, 4, 10);

    expect(samples.busiest).toBe(UNKNOWN);
  });

  test('do not show who gets a word in just now', () => {
    const samples = new RunnerSamples(cell);
    look(samples, 3, 20);
    look(samples, 4, 1);

    expect(samples.latest).toBe(4);
    expect(samples.busiest).toBe(UNKNOWN);
  });

  test('begin anew when the thread has answered', () => {
    const samples = new RunnerSamples(cell);
    look(samples, 3, 20);
    samples.forget();
    look(samples, 4, 1);

    expect(samples.busiest).toBe(4);
  });
});
