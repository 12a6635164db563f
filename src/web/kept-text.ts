/** Text that this browser keeps. Browsers that forbid keeping anything keep nothing, and that is all. */
export interface KeptText {
  get(key: string): string | null;
  /** Null takes it away. */
  set(key: string, text: string | null): void;
  /** Takes away all whose key begins so. */
  forget(prefix: string): void;
}

/** For as long as the browser likes. */
export const onDevice: KeptText = keptIn(() => localStorage);

/** For as long as the tab is open. */
export const inTab: KeptText = keptIn(() => sessionStorage);

function keptIn(storage: () => Storage): KeptText {
  return {
    get(key) {
      try {
        return storage().getItem(key);
      } catch {
        return null;
      }
    },
    set(key, text) {
      try {
        if (text === null) storage().removeItem(key);
        else storage().setItem(key, text);
      } catch {
        // Forbidden, or full: what is on the screen stays there.
      }
    },
    forget(prefix) {
      try {
        const place = storage();
        for (const key of Object.keys(place)) if (key.startsWith(prefix)) place.removeItem(key);
      } catch {
        // Where keeping is forbidden there is nothing.
      }
    },
  };
}
