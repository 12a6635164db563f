/** A value that changes: what React's `useSyncExternalStore`, Svelte's stores and their like take. */
export interface ExternalStore<T> {
  /** @returns what ends the subscription */
  subscribe(listener: () => void): () => void;
  /** The value now; the same object until it changes. */
  getSnapshot(): T;
}

/** An external store that its owner sets. */
export interface Settable<T> extends ExternalStore<T> {
  set(value: T): void;
}

export function createStore<T>(initial: T): Settable<T> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    subscribe(listener) {
      // Each subscription is its own, also of one function twice.
      const own = () => listener();
      listeners.add(own);
      return () => listeners.delete(own);
    },
    getSnapshot: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
  };
}
