import type { Answers } from '../../model/question.ts';
import type { DraftStorage } from './conversation-store.ts';
import type { Draft } from './conversation-view.ts';

/** A draft as it is kept. */
export interface StoredDraft {
  draft: Draft;
  /** What is on its way to the server, and the key that makes it safe to send again; null unless it is submitting. */
  sent: { answers: Answers; idempotencyKey: string } | null;
}

/** The drafts of a conversation, each under a key of its own, so that tabs do not write over each other's. */
export interface StoredDrafts {
  read(questionId: string): StoredDraft | null;
  write(questionId: string, stored: StoredDraft): void;
  remove(questionId: string): void;
  /** Of all that are kept. Two tabs that write at once may leave one out, which then stays for good: it loses nothing else. */
  questionIds(): string[];
}

/** @param storage undefined takes `localStorage` where there is one */
export function openStoredDrafts(storage: DraftStorage | null | undefined, conversationId: string): StoredDrafts {
  const place = storage ?? (storage === undefined ? browserStorage() : null) ?? createMemory();
  const indexKey = `holdfast drafts ${conversationId}`;
  const keyOf = (questionId: string) => `holdfast draft ${questionId}`;

  function readJson<T>(key: string, absent: T): T {
    try {
      return JSON.parse(place.getItem(key) ?? '') ?? absent;
    } catch {
      return absent;
    }
  }

  /** @param value undefined for nothing */
  function writeJson(key: string, value: unknown): void {
    try {
      if (value === undefined) place.removeItem(key);
      else place.setItem(key, JSON.stringify(value));
    } catch {
      // It is full, or may not be used: a reload loses the draft, and nothing else.
    }
  }

  const questionIds = () => readJson<string[]>(indexKey, []);

  return {
    read: (questionId) => readJson<StoredDraft | null>(keyOf(questionId), null),
    write(questionId, stored) {
      writeJson(keyOf(questionId), stored);
      const known = questionIds();
      if (!known.includes(questionId)) writeJson(indexKey, [...known, questionId]);
    },
    remove(questionId) {
      writeJson(keyOf(questionId), undefined);
      const known = questionIds();
      if (known.includes(questionId))
        writeJson(
          indexKey,
          known.filter((id) => id !== questionId),
        );
    },
    questionIds,
  };
}

function browserStorage(): DraftStorage | null {
  try {
    const { localStorage }: { localStorage?: DraftStorage } = globalThis as object;
    return localStorage ?? null;
  } catch {
    // A page that may not have any.
    return null;
  }
}

function createMemory(): DraftStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}
