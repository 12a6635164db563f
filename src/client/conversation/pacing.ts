/** So long may what changes a little wait for more of it. */
const FRAME_MS = 33;
/** In so many turns an iterator has handed over what it had already received. */
const TURNS = 8;

/** Gathers changes, so that what hears of them does so once for many. */
export interface Pacing {
  /** At once, for what somebody has just done: an input has to show it before the browser goes on. */
  now(): void;
  /** Once all that has come by now has been dealt with, still before the next frame. */
  soon(): void;
  /** In a 30th of a second at the latest. */
  later(): void;
  /** Calls for what is left, and leaves no timer behind. */
  end(): void;
}

export function createPacing(call: () => void): Pacing {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let turns = 0;

  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    turns = 0;
    call();
  }

  function turn(): void {
    if (turns === 0) return;
    turns -= 1;
    if (turns === 0) now();
    else queueMicrotask(turn);
  }

  return {
    now,
    soon() {
      if (turns === 0) queueMicrotask(turn);
      turns = TURNS;
    },
    later() {
      if (turns === 0) timer ??= setTimeout(now, FRAME_MS);
    },
    end() {
      if (timer !== undefined || turns > 0) now();
    },
  };
}
