/** What something ends with: any `AbortSignal`, or the closing of a client. */
export interface Ending {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An ending that any number of things listen to: Node warns of a signal with more than ten listeners. */
export function createEnding(): Ending & { abort(): void } {
  const listeners = new Set<() => void>();
  let aborted = false;
  return {
    get aborted() {
      return aborted;
    },
    addEventListener: (_type, listener) => listeners.add(listener),
    removeEventListener: (_type, listener) => listeners.delete(listener),
    abort() {
      aborted = true;
      for (const listener of [...listeners]) listener();
      listeners.clear();
    },
  };
}
