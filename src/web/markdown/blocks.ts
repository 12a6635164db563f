import { Lexer, type Token, type TokensList } from 'marked';

/** Markdown taken apart into its blocks; `text` is their sources, one after the other. */
export interface Blocks {
  text: string;
  tokens: readonly Token[];
  /** Where each block begins in the text. */
  starts: readonly number[];
}

/** How many blocks at the end more text may still change: mostly the last two, with the space between them. */
const OPEN_BLOCKS = 4;

/**
 * Takes Markdown apart. As more of the same text comes, blocks that can no longer change are kept as they are, so that
 * a long message which is being written costs what its end costs. What only the whole text tells, such as references to
 * what is defined later, is right when the text is taken apart whole: do that once it is complete.
 *
 * @param before what this text began with
 */
export function toBlocks(source: string, before: Blocks | null = null): Blocks {
  const text = source.replaceAll(/\r\n?/g, '\n');
  if (before === null || before.text === '' || !text.startsWith(before.text)) return lexed(text, [], [], 0);
  if (text === before.text) return before;
  const kept = Math.max(0, before.tokens.length - OPEN_BLOCKS);
  return lexed(text, before.tokens.slice(0, kept), before.starts.slice(0, kept), before.starts[kept] ?? 0);
}

function lexed(text: string, tokens: readonly Token[], starts: readonly number[], from: number): Blocks {
  const added = lex(text.slice(from));
  const places: number[] = [];
  let at = from;
  for (const { raw } of added) {
    places.push(at);
    at += raw.length;
  }
  return { text, tokens: [...tokens, ...added], starts: [...starts, ...places] };
}

const MAX_LENGTH = 200_000;
/** Of what Markdown gives a meaning, in one paragraph: beyond it the work grows with the square. */
const MAX_MARKS = 1500;
const DEEP = /^(?: {0,3}>){50}/m;

/** What would take too long to be taken apart, or cannot be, is one block of plain text. */
function lex(text: string): TokensList | Token[] {
  if (isTooMuch(text)) return [{ type: 'text', raw: text, text }];
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return [{ type: 'text', raw: text, text }];
  }
}

function isTooMuch(text: string): boolean {
  if (text.length > MAX_LENGTH || DEEP.test(text)) return true;
  if (text.length < MAX_MARKS) return false;
  return text.split(/\n\s*\n/).some((paragraph) => (paragraph.match(/[*_[\]`~<!]/g) ?? []).length > MAX_MARKS);
}
