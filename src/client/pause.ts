import type { Ending } from './ending.ts';
import type { Waker } from './environment.ts';

/**
 * Waits, and no longer than until somebody wakes it or a signal aborts. Leaves no timer and no listener behind.
 *
 * @returns whether it was woken
 */
export function pause(ms: number, waker: Waker, ...endings: Ending[]): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isWoken: boolean) => {
      clearTimeout(timer);
      stopListening();
      for (const ending of endings) ending.removeEventListener('abort', onAbort);
      resolve(isWoken);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(onAbort, ms);
    const stopListening = waker.onWake(() => end(true));
    for (const ending of endings) ending.addEventListener('abort', onAbort);
    if (endings.some(({ aborted }) => aborted)) onAbort();
  });
}
