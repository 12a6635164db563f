import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextFlow } from './text-flow.ts';

/** How much is parsed in one turn of the event loop, in UTF-16 units: HTML can be written so that it is slow to parse. */
const PIECE_LENGTH = 2 * 1024;
/** Longer addresses of links say nothing to a reader. */
const MAX_LINK_LENGTH = 500;
/** Far deeper than pages that people write; what nests deeper is slow to parse. */
const MAX_DEPTH = 1000;

const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'canvas', 'iframe', 'object', 'title']);
const PARAGRAPHS = new Set(['p', 'pre', 'blockquote', 'ul', 'ol', 'dl', 'table', 'figure', 'hr', 'form']);
const LINES = new Set(
  ['div', 'section', 'article', 'header', 'footer', 'main', 'nav', 'aside', 'li', 'dt', 'dd', 'tr', 'br'].concat([
    'caption',
    'figcaption',
    'address',
    'summary',
    'details',
    'option',
    'button',
  ]),
);
const HEADING = /^h([1-6])$/;

export interface ReadableText {
  /** Null where the page has none. */
  title: string | null;
  /** With the addresses of links behind their words, in parentheses. */
  text: string;
}

/**
 * The text of an HTML page as a person would read it.
 *
 * @param url what its links are relative to
 * @param maxLength in UTF-16 units: nothing is read behind the piece of the page with which the text is longer
 * @throws Error when it nests too deep
 */
export async function readableText(
  html: string,
  url: string,
  signal: AbortSignal,
  maxLength: number,
): Promise<ReadableText> {
  const { Parser } = await import('htmlparser2');
  const reader = new PageReader(url);
  const parser = new Parser({
    onopentag: (name, attributes) => reader.open(name, attributes),
    ontext: (text) => reader.read(text),
    onclosetag: (name) => reader.close(name),
  });
  for (let at = 0; at < html.length && reader.length <= maxLength; at += PIECE_LENGTH) {
    parser.write(html.slice(at, at + PIECE_LENGTH));
    await nextTurn(undefined, { signal });
  }
  parser.end();
  return reader.result();
}

class PageReader {
  readonly #text = new TextFlow();
  readonly #title = new TextFlow();
  readonly #links: { href: string | undefined; from: number }[] = [];
  readonly #url: string;
  #depth = 0;
  #skipped = 0;
  #inTitle = false;
  #preformatted = 0;

  constructor(url: string) {
    this.#url = url;
  }

  open(name: string, { href, alt }: { [name: string]: string }): void {
    if (++this.#depth > MAX_DEPTH) throw new Error(`${this.#url} nests deeper than ${MAX_DEPTH} elements.`);
    if (name === 'title' && this.#skipped === 0 && this.#title.length === 0) this.#inTitle = true;
    if (SKIPPED.has(name)) this.#skipped++;
    if (this.#skipped > 0) return;
    this.#break(name);
    const heading = HEADING.exec(name);
    if (heading !== null) this.#text.mark(`${'#'.repeat(Number(heading[1]))} `);
    else if (name === 'li') this.#text.mark('- ');
    else if (name === 'hr') this.#text.writeAsIs('---');
    else if (name === 'pre') this.#preformatted++;
    else if (name === 'a') this.#links.push({ href, from: this.#text.length });
    else if (name === 'img' && alt) this.#text.write(` [${alt}] `);
  }

  read(text: string): void {
    if (this.#inTitle) this.#title.write(text);
    if (this.#skipped > 0) return;
    if (this.#preformatted > 0) this.#text.writeAsIs(text);
    else this.#text.write(text);
  }

  close(name: string): void {
    this.#depth--;
    if (name === 'title') this.#inTitle = false;
    if (SKIPPED.has(name)) this.#skipped--;
    if (this.#skipped > 0) return;
    if (name === 'pre') this.#preformatted--;
    else if (name === 'a') this.#closeLink();
    else if (name === 'td' || name === 'th') this.#text.write(' | ');
    else if (name === 'li' || HEADING.test(name)) this.#text.mark('');
    this.#break(name);
  }

  /** Of the text so far. */
  get length(): number {
    return this.#text.length;
  }

  result(): ReadableText {
    return { title: this.#title.toString() || null, text: this.#text.toString() };
  }

  #break(name: string): void {
    if (PARAGRAPHS.has(name) || HEADING.test(name)) this.#text.breakLine(2);
    else if (LINES.has(name)) this.#text.breakLine(1);
  }

  #closeLink(): void {
    const link = this.#links.pop();
    if (link?.href === undefined || this.#text.length === link.from || !URL.canParse(link.href, this.#url)) return;
    const target = new URL(link.href, this.#url);
    if (target.protocol !== 'https:' || link.href.startsWith('#') || target.href.length > MAX_LINK_LENGTH) return;
    this.#text.write(` (${target.href})`);
  }
}
