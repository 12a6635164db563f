import { expect } from 'vitest';
import { diceOf } from '../support/dice.ts';
import { audit } from './audit.ts';
import { inWorld } from './in-world.ts';
import { describeFaults, type Fault } from './moves.ts';
import { tell } from './tell.ts';
import type { World } from './world.ts';
import type { WorldOptions } from './world-options.ts';

export interface Scenario extends Omit<WorldOptions, 'seed' | 'faults'> {
  maxAttempts?: number;
  /** What happens from outside, until nothing can happen any more. By default the task is created and left alone. */
  play?(world: World, taskId: string): Promise<void>;
  /** What must be so in the end, whatever was lost. */
  check(world: World, taskId: string): void;
  /** Whether something else than the handle is awaited beside other things, so that calls come in another order. */
  isLoose?: boolean;
  mayStand?: boolean;
  /** Whether code is changed under way, so that it need not be given the same. */
  isOtherCode?: boolean;
}

const SCHEDULES = Number(process.env.HOLDFAST_REPLAY_SCHEDULES ?? 1);
/** A scenario with more places than that is lost at some of them. */
const MAX_PLACES = 40 * SCHEDULES;

/**
 * Plays a scenario without a fault, and then again, losing the process or a worker before and after each commit and each
 * command to a worker; where `twice`, once more soon after.
 */
export async function survives(scenarioOf: () => Scenario, { twice = false } = {}): Promise<void> {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const { commits, messages } = await play(scenarioOf(), seed, []);
    const dice = diceOf(seed);
    const places = placesOf(commits, messages);
    while (places.length > MAX_PLACES) places.splice(dice.below(places.length), 1);
    for (const place of places) {
      const fault = { ...place, victim: dice.pick(['process', 'worker'] as const) };
      const second = { ...fault, index: fault.index + 1 + dice.below(6) };
      await play(scenarioOf(), seed, twice ? [fault, second] : [fault]);
    }
  }
}

/** Plays a scenario once, and checks what came of it. */
export async function play(scenario: Scenario, seed: number, faults: readonly Fault[]) {
  const { maxAttempts = 1, isLoose = false, mayStand = false, isOtherCode = false } = scenario;
  return inWorld({ ...scenario, seed, faults }, async (world) => {
    const taskId = world.create('main', null, maxAttempts);
    try {
      await (scenario.play?.(world, taskId) ?? world.run());
      expect(isOtherCode ? world.troubles : audit(world, { strict: !isLoose, mayStand })).toEqual([]);
      scenario.check(world, taskId);
    } catch (error) {
      throw new Error(`Schedule ${seed}, ${describeFaults(faults)}\n${tell(world)}\n${error}`, { cause: error });
    }
    return { commits: world.commits, messages: world.messages };
  });
}

function placesOf(commits: number, messages: number): Omit<Fault, 'victim'>[] {
  const at = (count: number, whens: Fault['when'][]) =>
    Array.from({ length: count }, (_, index) => whens.map((when) => ({ when, index }))).flat();
  return [...at(commits, ['before commit', 'after commit']), ...at(messages, ['before message', 'after message'])];
}
