const PATIENCE_MS = 20_000;

/** What proves who asks: kept until it is refused. */
export interface Credential {
  /** Null when there is none. @throws what the function that gives it throws; it is asked again the next time */
  get(): Promise<string | null>;
  /** @returns whether `get` may give another one than `value` */
  refuse(value: string | null): boolean;
}

export function createCredential(source: string | (() => string | Promise<string>) | undefined): Credential {
  if (typeof source !== 'function') return { get: async () => source ?? null, refuse: () => false };
  let current: Promise<string> | null = null;
  let askedAt = 0;
  let known: string | null = null;

  async function ask(give: () => string | Promise<string>): Promise<string> {
    try {
      known = await give();
      return known;
    } catch (error) {
      current = null;
      throw error;
    }
  }

  return {
    get: () => {
      // What has not answered by now most likely never will.
      if (current === null || (known === null && Date.now() - askedAt > PATIENCE_MS)) {
        askedAt = Date.now();
        current = ask(source);
      }
      return current;
    },
    refuse(value) {
      if (value === null) return false;
      // Another request may have brought a new one meanwhile.
      if (value === known) known = current = null;
      return true;
    },
  };
}
