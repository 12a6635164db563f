import type { MarkedToken, Token, Tokens } from 'marked';
import { memo } from '../ui/memo.tsx';
import { CodeBlock } from './code-block.tsx';
import { Inline } from './inline.tsx';

/** Deeper than people write; below it the source is shown. */
const MAX_DEPTH = 12;

/**
 * One block of the top, rendered again only when its source is another one, or when it is complete: then references
 * are found that were defined after it.
 */
export const Block = memo<{ token: Token; isComplete: boolean }>(
  ({ token }) => <Piece token={token as MarkedToken} depth={0} />,
  (before, after) => before.token.raw === after.token.raw && before.isComplete === after.isComplete,
);

function Pieces({ tokens, depth }: { tokens: readonly Token[]; depth: number }) {
  return tokens.map((token, index) => <Piece key={index} token={token as MarkedToken} depth={depth + 1} />);
}

function Piece({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > MAX_DEPTH) return <p dir="auto">{token.raw}</p>;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <Heading token={token} />;
    case 'paragraph':
      return (
        <p dir="auto">
          <Inline tokens={token.tokens} />
        </p>
      );
    case 'text':
      return token.tokens === undefined ? <p dir="auto">{token.text}</p> : <Inline tokens={token.tokens} />;
    case 'code':
      return <CodeBlock code={token.text} language={token.lang?.split(/\s/, 1)[0] ?? ''} />;
    case 'blockquote':
      return (
        <blockquote dir="auto">
          <Pieces tokens={token.tokens} depth={depth} />
        </blockquote>
      );
    case 'list':
      return <List token={token} depth={depth} />;
    case 'table':
      return <Table token={token} />;
    case 'hr':
      return <hr />;
    case 'checkbox':
      return (
        <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? 'Done' : 'Not done'} />
      );
    case 'html':
      return <p dir="auto">{token.raw}</p>;
    default:
      return <Inline tokens={[token]} />;
  }
}

/** The page has its own title above, so a message begins at the second level. */
function Heading({ token: { depth, tokens } }: { token: Tokens.Heading }) {
  const Tag = depth <= 1 ? 'h2' : depth === 2 ? 'h3' : depth === 3 ? 'h4' : 'h5';
  return (
    <Tag dir="auto">
      <Inline tokens={tokens} />
    </Tag>
  );
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = token.items.map((item, index) => (
    <li key={index} dir="auto" class={item.task ? 'prose-task' : undefined}>
      <Pieces tokens={item.tokens} depth={depth} />
    </li>
  ));
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { token: Tokens.Table }) {
  const cell = (Tag: 'th' | 'td') => (each: Tokens.TableCell, index: number) => (
    <Tag key={index} dir="auto" class={each.align === null ? undefined : `prose-${each.align}`}>
      <Inline tokens={each.tokens} />
    </Tag>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="prose-table" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>{token.header.map(cell('th'))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{row.map(cell('td'))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
