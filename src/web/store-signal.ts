import { type ReadonlySignal, signal } from '@preact/signals';
import type { ExternalStore } from '../client/index.ts';

/** How often a tab that nobody sees is brought up to date. */
const HIDDEN_MS = 250;

/** A client's store as a signal. However often it changes, it is looked at once a frame at the most. */
export function storeSignal<T>(store: ExternalStore<T>): ReadonlySignal<T> {
  let unsubscribe = () => {};
  let isDue = false;
  const own = signal(store.getSnapshot(), {
    watched() {
      unsubscribe = store.subscribe(schedule);
      own.value = store.getSnapshot();
    },
    unwatched: () => unsubscribe(),
  });

  function schedule(): void {
    if (isDue) return;
    isDue = true;
    onNextFrame(() => {
      isDue = false;
      own.value = store.getSnapshot();
    });
  }

  return own;
}

function onNextFrame(run: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(run);
  else setTimeout(run, HIDDEN_MS);
}
