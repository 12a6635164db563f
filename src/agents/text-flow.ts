/** Builds plain text: runs of white space become one space, and breaks are kept until something follows them. */
export class TextFlow {
  #text = '';
  #breaks = 0;
  #space = false;
  #mark = '';

  get length(): number {
    return this.#text.length;
  }

  /** Ends the line; 2 leaves an empty one. The longest of several breaks counts. */
  breakLine(breaks: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, breaks);
    this.#space = false;
  }

  /** Sets what stands before the next text, such as the dash of a list; another takes its place, the empty one none. */
  mark(mark: string): void {
    this.#mark = mark;
  }

  write(text: string): void {
    const words = text.replace(/\s+/g, ' ');
    if (words.startsWith(' ')) this.#space = true;
    const trimmed = words.trim();
    if (trimmed === '') return;
    this.writeAsIs(trimmed);
    this.#space = words.endsWith(' ');
  }

  /** Keeps the white space in `text`. */
  writeAsIs(text: string): void {
    if (this.#text !== '') this.#text += this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space ? ' ' : '';
    this.#text += this.#mark + text;
    this.#mark = '';
    this.#breaks = 0;
    this.#space = false;
  }

  toString(): string {
    return this.#text;
  }
}
