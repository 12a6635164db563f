/** The named ones that people and models write; the other two thousand stay as they are written. */
const NAMED: { [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  deg: '°',
  plusmn: '±',
  times: '×',
  divide: '÷',
  ne: '≠',
  le: '≤',
  ge: '≥',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  para: '¶',
  micro: 'µ',
  half: '½',
};

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]+));/g;

/** Resolves `&amp;`, `&#39;`, `&#x2192;`. The result is text, never markup. */
export function withoutReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (written, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? written;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    return isCharacter(code) ? String.fromCodePoint(code) : '\ufffd';
  });
}

function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}
