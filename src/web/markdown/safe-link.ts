import { withoutReferences } from './character-references.ts';

export interface SafeLink {
  href: string;
  /** Where it leads, for people: the host, or the address that mail goes to. International names show as `xn--…`. */
  host: string;
}

const SCHEMES: readonly string[] = ['http:', 'https:', 'mailto:'];

/** A link that may be followed: absolute, of the web or of mail. Null for anything else, which is shown as text. */
export function safeLink(written: string): SafeLink | null {
  const url = parsed(withoutReferences(written));
  if (url === null || !SCHEMES.includes(url.protocol)) return null;
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  // A name before the host is there to look like one: https://bank.example@evil.example
  if (url.username !== '' || url.password !== '') return null;
  return { href: url.href, host: url.host };
}

function parsed(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
