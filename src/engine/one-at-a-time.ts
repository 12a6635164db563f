import { unlessFull } from './refusal.ts';

/** Does a thing for keys: for each of them one at a time, and once more for all that asked meanwhile. */
export interface OneAtATime {
  /** It is begun after this moment, and soon. */
  ask(key: string): void;
  /** Begins nothing more. */
  stop(): void;
}

/** After trouble with the storage. */
const RETRY_MS = 500;

/**
 * @param run is called again later when it fails for want of space or of the database
 * @param onFatal called with any other error
 */
export function createOneAtATime(run: (key: string) => Promise<void>, onFatal: (error: unknown) => void): OneAtATime {
  /** Whether each is to be done again. */
  const underWay = new Map<string, boolean>();
  let stopped = false;

  function begin(key: string): void {
    underWay.set(key, false);
    // What asks is in the midst of something.
    Promise.resolve()
      .then(() => run(key))
      .then(() => end(key))
      .catch((error: unknown) => {
        if (stopped) return;
        unlessFull(error);
        setTimeout(end, RETRY_MS, key, true).unref();
      })
      .catch(onFatal);
  }

  function end(key: string, again = underWay.get(key) === true): void {
    underWay.delete(key);
    if (again && !stopped) begin(key);
  }

  return {
    ask(key) {
      if (underWay.has(key)) underWay.set(key, true);
      else if (!stopped) begin(key);
    },
    stop() {
      stopped = true;
    },
  };
}
