import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DisclosureProps {
  /** What the row says while it is closed, too. */
  summary: ComponentChildren;
  /** What it shows when it is open; made only then. */
  children: () => ComponentChildren;
  class?: string;
}

/** A row that can be opened. */
export function Disclosure({ summary, children, class: extra = '' }: DisclosureProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div class={`disclosure ${extra}`}>
      <button
        type="button"
        class="disclosure-row"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="disclosure-arrow">
          <Icon name="chevron-right" />
        </span>
        {summary}
      </button>
      {isOpen && (
        <div id={id} class="disclosure-body">
          {children()}
        </div>
      )}
    </div>
  );
}
