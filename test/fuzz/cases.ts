import fc from 'fast-check';
import { FLOWS } from './flows.ts';
import { type OddBytes, oddBytes } from './odd-bytes.ts';
import { type ApiDocument, type OddRequest, operationRequests } from './operation-requests.ts';

/** One thing to do to the server. */
export type Case =
  | { kind: 'bytes'; bytes: OddBytes }
  | { kind: 'request'; request: OddRequest }
  | { kind: 'flow'; name: string; seed: number };

/** So many are made at a time: a seed each. */
const BATCH = 400;

/** The same cases without end for the same seed and document. */
export function* casesOf(document: ApiDocument, seed: number): Generator<Case, never> {
  const cases: fc.Arbitrary<Case> = fc.oneof(
    { weight: 24, arbitrary: oddBytes.map((bytes): Case => ({ kind: 'bytes', bytes })) },
    { weight: 73, arbitrary: operationRequests(document).map((request): Case => ({ kind: 'request', request })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...Object.keys(FLOWS)), fc.nat())
        .map(([name, dice]): Case => ({ kind: 'flow', name, seed: dice })),
    },
  );
  for (let batch = 0; ; batch++) {
    yield* fc.sample(cases, { seed: Math.imul(seed, 1_000_003) + batch, numRuns: BATCH });
  }
}
