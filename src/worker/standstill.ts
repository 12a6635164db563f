/** Looks this often within the limit. Counted, not timed: a machine that was asleep is no fault of the code's. */
const LOOKS = 6;

/** Finds out that something which has to go on does not. */
export class Standstill {
  readonly #timer: NodeJS.Timeout;
  #looks = 0;

  /**
   * @param isExcused true while it is others who do not go on
   * @param onFound called once, when there has been no {@link moved} for `limitMs`, or a little longer
   */
  constructor(limitMs: number, isExcused: () => boolean, onFound: () => void) {
    this.#timer = setInterval(() => {
      if (isExcused()) this.moved();
      if (++this.#looks <= LOOKS) return;
      this.stop();
      onFound();
    }, limitMs / LOOKS).unref();
  }

  moved(): void {
    this.#looks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
