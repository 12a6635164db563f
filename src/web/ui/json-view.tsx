import { useMemo, useState } from 'preact/hooks';
import type { Json } from '../../client/index.ts';
import { sizeWords } from '../words/byte-size.ts';
import { CopyButton } from './copy-button.tsx';

/** What is more than this is shown only when somebody asks for it. */
const SHOWN_CHARACTERS = 10_000;

/** JSON, indented. It is written when it is shown, so a row that is closed costs nothing. */
export function JsonView({ label, value }: { label: string; value: Json | object }) {
  const [isWhole, setWhole] = useState(false);
  const text = useMemo(() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)), [value]);
  const isCut = !isWhole && text.length > SHOWN_CHARACTERS;
  return (
    <figure class="json">
      <figcaption class="code-head">
        <span>{label}</span>
        <CopyButton text={() => text} name={`Copy ${label.toLowerCase()}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre dir="ltr" tabIndex={0}>
        <code>{isCut ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}</code>
      </pre>
      {isCut && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          Show all ({sizeWords(text.length)})
        </button>
      )}
    </figure>
  );
}
