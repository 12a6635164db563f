import type { ConversationStore, DraftStorage } from '../../src/client/conversation/conversation-store.ts';
import type { ConversationView, Entry } from '../../src/client/conversation/conversation-view.ts';
import type { ExternalStore } from '../../src/client/external-store.ts';

/** Resolves with the first value for which `wanted` holds. */
export function shown<T>(store: ExternalStore<T>, wanted: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const look = () => {
      const value = store.getSnapshot();
      if (!wanted(value)) return;
      queueMicrotask(() => stop());
      resolve(value);
    };
    const stop = store.subscribe(look);
    look();
  });
}

/** A page that shows a conversation, and keeps what it has shown. */
export interface OpenPage {
  readonly views: readonly ConversationView[];
  leave(): void;
}

export function openPage(store: ConversationStore): OpenPage {
  const views: ConversationView[] = [];
  return { views, leave: store.subscribe(() => views.push(store.getSnapshot())) };
}

/** What the tabs of a browser have in common. */
export interface TabStorage extends DraftStorage {
  readonly items: ReadonlyMap<string, string>;
}

export function createTabStorage(): TabStorage {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

export function said({ entries }: ConversationView, content: string): Entry | undefined {
  return entries.find((entry) => entry.kind === 'message' && entry.message.content === content);
}
