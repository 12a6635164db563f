import { useLayoutEffect, useRef } from 'preact/hooks';
import { useApp } from '../app-context.ts';

/** Has something kept that was typed, when the session ends under it. */
export function useSessionEnd(keep: () => void): void {
  const { ending } = useApp();
  const latest = useRef(keep);
  latest.current = keep;
  // An effect that is no layout effect is cleaned up after the next paint, when others have been at what is kept.
  useLayoutEffect(
    () => () => {
      if (ending.aborted) latest.current();
    },
    [ending],
  );
}
