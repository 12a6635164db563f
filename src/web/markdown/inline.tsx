import type { MarkedToken, Token } from 'marked';
import type { ComponentChildren } from 'preact';
import { withoutReferences } from './character-references.ts';
import { safeLink } from './safe-link.ts';

/** Deeper than people write; below it the source is shown. */
const MAX_DEPTH = 24;

/** What stands in a line, as elements. Markup of HTML is shown as it is written; nothing is ever loaded. */
export function Inline({ tokens, depth = 0 }: { tokens: readonly Token[]; depth?: number }) {
  return tokens.map((token, index) => <Span key={index} token={token as MarkedToken} depth={depth + 1} />);
}

function Span({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? (
        withoutReferences(token.text)
      ) : (
        <Inline tokens={token.tokens} depth={depth} />
      );
    case 'escape':
      return token.text;
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} depth={depth} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} depth={depth} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Inline tokens={token.tokens} depth={depth} />
        </del>
      );
    case 'codespan':
      return <code dir="ltr">{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Link href={token.href}>
          <Inline tokens={token.tokens} depth={depth} />
        </Link>
      );
    case 'image':
      return <Link href={token.href}>{token.text === '' ? 'image' : withoutReferences(token.text)}</Link>;
    default:
      return token.raw;
  }
}

/** Says in its title where it leads, whatever its text claims. */
function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const link = safeLink(href);
  if (link === null) return <bdi>{children}</bdi>;
  return (
    <a href={link.href} title={link.host} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{children}</bdi>
    </a>
  );
}
