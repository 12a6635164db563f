import { type ReadonlySignal, signal } from '@preact/signals';

/** Says things to who does not see the page. */
export interface Announcer {
  announce(text: string): void;
  readonly text: ReadonlySignal<string>;
}

export function createAnnouncer(): Announcer {
  const text = signal('');
  return {
    text,
    announce(words) {
      // The same words again are said only when the text is another.
      text.value = words === text.value ? `${words}\u00a0` : words;
    },
  };
}

export function LiveRegion({ announcer }: { announcer: Announcer }) {
  return (
    <div class="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
      {announcer.text.value}
    </div>
  );
}
