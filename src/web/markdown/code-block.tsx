import { CopyButton } from '../ui/copy-button.tsx';

/** Code with its language, and a button that copies it. Whatever it holds, it cannot reorder what stands around it. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <figure class="code">
      <figcaption class="code-head">
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={() => code} name="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre dir="ltr" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
