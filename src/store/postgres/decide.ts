import { type Batch, decideBatch, type VerbCall } from '../../model/batch.ts';
import { refuse } from '../../model/verb.ts';
import type { Loaded } from './load.ts';

/**
 * Decides the calls over what was loaded for them, and maybe for more. Claims under the name of a process that lives no more
 * come to nothing: others may have taken over what it held.
 */
export function decide({ view, instant, deadNodes }: Loaded, calls: readonly VerbCall[]): Batch {
  const isRefused = (call: VerbCall) => call.verb === 'claimTask' && deadNodes.has(call.args.node);
  const places = calls.flatMap((call, index) => (isRefused(call) ? [] : [index]));
  const decided = places.length === calls.length ? calls : calls.filter((call) => !isRefused(call));
  const batch = decideBatch(view, decided, instant.epoch, instant.now);
  if (places.length === calls.length) return batch;
  const { outcome } = refuse('not_claimable', 'The process that would run it counts as dead.');
  const placed = <T>(list: readonly T[], otherwise: T) =>
    calls.map((_, index) => list[places.indexOf(index)] ?? otherwise);
  return {
    ...batch,
    eventCounts: placed(batch.eventCounts, 0),
    outcomes: placed(batch.outcomes, outcome),
    ords: placed(batch.ords, null),
    resolutions: batch.resolutions.map((resolution) => ({ ...resolution, call: places[resolution.call] ?? 0 })),
  };
}
