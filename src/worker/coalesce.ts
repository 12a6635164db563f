import { utf8Bytes } from '../model/json.ts';
import { own } from './own-globals.ts';

/** How long text is gathered after a delta, and how much of it at most. @see docs/decisions/012-delta-coalescing.md */
export const DELTA_EVERY_MS = 50;
export const DELTA_BYTES = 1024;
/** The longest delta, in UTF-16 code units: a source may yield a whole book at once. */
export const MAX_DELTA_LENGTH = 16_384;

/**
 * Gathers streamed text into deltas: the first piece goes out at once, what follows within 50 ms of a delta waits for
 * the end of them or for 1 KiB. A surrogate pair is never cut, not even where the source cut it.
 */
export class Coalescer {
  readonly #send: (text: string) => void;
  #text = '';
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  push(text: string): void {
    this.#text += text;
    this.#bytes += utf8Bytes(text);
    if (this.#timer === null || this.#bytes >= DELTA_BYTES) this.#flush();
  }

  /** Sends what is left; a half of a pair whose other half never came goes as it is. */
  end(): void {
    this.stop();
    this.#sendPieces(this.#text);
    this.#text = '';
  }

  /** Sends nothing more. */
  stop(): void {
    if (this.#timer !== null) own.clearTimeout(this.#timer);
    this.#timer = null;
  }

  #flush(): void {
    this.stop();
    const end = isHighSurrogate(this.#text, this.#text.length - 1) ? this.#text.length - 1 : this.#text.length;
    const ready = this.#text.slice(0, end);
    if (ready === '') return;
    this.#text = this.#text.slice(end);
    this.#bytes = utf8Bytes(this.#text);
    this.#timer = own.setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, DELTA_EVERY_MS);
    this.#sendPieces(ready);
  }

  #sendPieces(text: string): void {
    for (let start = 0; start < text.length; ) {
      let end = Math.min(start + MAX_DELTA_LENGTH, text.length);
      if (end < text.length && isHighSurrogate(text, end - 1)) end--;
      this.#send(text.slice(start, end));
      start = end;
    }
  }
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00;
}
