/** Aborts what waits for somebody else when nothing has come from there for too long. */
export class IdleWatch {
  readonly #controller = new AbortController();
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on it is waited for the other side. */
  begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#controller.abort(), this.#idleMs);
  }

  /** Something has come: the time begins anew, if it is waited. */
  readonly heard = (): void => {
    this.#timer?.refresh();
  };

  /** It is no longer waited for the other side. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
