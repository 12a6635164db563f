import { type ReadonlySignal, signal } from '@preact/signals';

export interface Toast {
  id: number;
  text: string;
}

/** Says things that belong to no place of the page, for as long as it takes to read them twice. */
export interface Toasts {
  readonly shown: ReadonlySignal<readonly Toast[]>;
  tell(text: string): void;
  dismiss(id: number): void;
}

const MAX_SHOWN = 3;
const SHOWN_MS = 20_000;

export function createToasts(): Toasts {
  const shown = signal<readonly Toast[]>([]);
  let lastId = 0;

  function dismiss(id: number): void {
    shown.value = shown.value.filter((toast) => toast.id !== id);
  }

  return {
    shown,
    tell(text) {
      lastId += 1;
      const id = lastId;
      shown.value = [...shown.value.filter((toast) => toast.text !== text), { id, text }].slice(-MAX_SHOWN);
      setTimeout(() => dismiss(id), SHOWN_MS);
    },
    dismiss,
  };
}
