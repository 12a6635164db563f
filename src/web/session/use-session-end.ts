import { useEffect, useRef } from 'preact/hooks';
import { useApp } from '../app-context.ts';

/** Has something kept that was typed, when the session ends under it. */
export function useSessionEnd(keep: () => void): void {
  const { ending } = useApp();
  const latest = useRef(keep);
  latest.current = keep;
  useEffect(
    () => () => {
      if (ending.aborted) latest.current();
    },
    [ending],
  );
}
