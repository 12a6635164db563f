/** So many places may lie empty at the front before the rest is moved up. */
const MAX_GAP = 1024;

/** First in, first out, however many there are: `Array.shift` moves all the others. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.length === 0) return item;
    this.#items[this.#head++] = undefined;
    if (this.#head > MAX_GAP && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
