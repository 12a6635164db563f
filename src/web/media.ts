import { type ReadonlySignal, signal } from '@preact/signals';

/** Whether a media query matches, as it changes. */
export function mediaSignal(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const own = signal(list.matches);
  list.addEventListener('change', () => {
    own.value = list.matches;
  });
  return own;
}
