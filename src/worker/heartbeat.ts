const BEAT_MS = 1000;
/** Beats that a thread may miss that is merely busy. */
const MISSED_WHEN_HEALTHY = 2;
/** Looks in which a thread that is merely busy may not answer. */
const LOOKS_WHEN_HEALTHY = 4;

export interface HeartbeatOptions {
  unresponsiveAfterMs: number;
  ping(id: number): void;
  /** Called at each beat from then on. */
  onUnresponsive(): void;
}

/** Asks a thread for signs of life. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  #answered = 0;
  #answers = 0;
  #missed = 0;
  #looks = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Counts beats, not time: a machine that was asleep, or a busy main thread, is no fault of the worker's. */
  start(): void {
    const { unresponsiveAfterMs, onUnresponsive } = this.#options;
    const everyMs = Math.min(BEAT_MS, unresponsiveAfterMs / 2);
    this.#timer = setInterval(() => {
      if (this.#missed * everyMs >= unresponsiveAfterMs) return onUnresponsive();
      this.#missed++;
      this.ask();
    }, everyMs).unref();
    this.ask();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** False for a thread that has not answered for a few beats. */
  get isHealthy(): boolean {
    return this.#missed <= MISSED_WHEN_HEALTHY;
  }

  /** How often it has answered. */
  get answers(): number {
    return this.#answers;
  }

  /** Whether it has still to answer. */
  get isAsked(): boolean {
    return this.#asked > this.#answered;
  }

  /** Whether it has not answered for a few looks. */
  get isSilent(): boolean {
    return this.#looks > LOOKS_WHEN_HEALTHY;
  }

  /** Asks out of turn, unless it is asked already. */
  ask(): void {
    if (this.isAsked) return;
    this.#options.ping(++this.#asked);
  }

  answer(id: number): void {
    this.#answered = id;
    this.#answers++;
    this.#missed = 0;
    this.#looks = 0;
  }

  look(): void {
    if (this.isAsked) this.#looks++;
  }
}
