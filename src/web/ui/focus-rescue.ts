import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * When what has the focus goes away with what changes in a place, the focus goes to a place that stays, rather than to
 * nowhere. It never takes it from anything.
 *
 * @param what another value after each change that may take something away
 * @param stayId the id of what stays
 * @returns the ref of the place
 */
export function useFocusRescue<T extends HTMLElement>(what: unknown, stayId: string): RefObject<T | null> {
  const place = useRef<T>(null);
  const wasInside = useRef(false);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const onFocusIn = () => {
      wasInside.current = true;
    };
    // What is removed has nothing that comes after it.
    const onFocusOut = ({ relatedTarget }: FocusEvent) => {
      wasInside.current = relatedTarget === null || (relatedTarget instanceof Node && element.contains(relatedTarget));
    };
    element.addEventListener('focusin', onFocusIn);
    element.addEventListener('focusout', onFocusOut);
    return () => {
      element.removeEventListener('focusin', onFocusIn);
      element.removeEventListener('focusout', onFocusOut);
    };
  }, []);

  useLayoutEffect(() => {
    if (!wasInside.current || document.activeElement !== document.body) return;
    wasInside.current = false;
    document.getElementById(stayId)?.focus({ preventScroll: true });
  }, [what]);

  return place;
}
