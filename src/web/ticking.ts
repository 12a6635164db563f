import { type ReadonlySignal, signal } from '@preact/signals';

/** A signal that is read anew every `everyMs` as long as somebody watches it. */
export function ticking<T>(read: () => T, everyMs: number): ReadonlySignal<T> {
  let timer: ReturnType<typeof setInterval> | undefined;
  const own = signal(read(), {
    watched() {
      own.value = read();
      timer = setInterval(() => {
        own.value = read();
      }, everyMs);
    },
    unwatched: () => clearInterval(timer),
  });
  return own;
}
