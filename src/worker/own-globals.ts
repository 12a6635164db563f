/** What the worker's own code runs by between the turns of agents. */
type OwnGlobals = Pick<typeof globalThis, 'setImmediate' | 'setTimeout' | 'clearTimeout'> & {
  performance: Pick<typeof globalThis.performance, 'now'>;
};

/** The globals of the moment, until {@link keepOwnGlobals}: where there are no agents, a test may move the clock. */
export let own: OwnGlobals = globalThis;

/**
 * From now on what agents do to the globals is their own affair: fake timers that one of them leaves behind would stop
 * every other task of the thread. `JSON`, which everything is written with, cannot be changed any more.
 */
export function keepOwnGlobals(): void {
  const { setImmediate, setTimeout, clearTimeout, performance } = globalThis;
  own = { setImmediate, setTimeout, clearTimeout, performance: { now: performance.now.bind(performance) } };
  Object.freeze(JSON);
}
