import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';

interface MessageListProps {
  /** The key of the first group; when it changes, something has been put in front. */
  firstKey: string | null;
  hasOlder: boolean;
  isLoadingOlder: boolean;
  onLoadOlder(): void;
  children: ComponentChildren;
}

/** Whoever is nearer to the end than this reads along. */
const AT_END_PX = 60;
/** How far from its beginning the list is made longer. */
const NEAR_START_PX = 400;

/**
 * Scrolls the messages. It stays at the end while the reader is there, and nowhere else; what is put in front moves
 * nothing that the reader sees.
 */
export function MessageList({ firstKey, hasOlder, isLoadingOlder, onLoadOlder, children }: MessageListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const anchor = useRef<{ key: string; top: number } | null>(null);
  const lastFirstKey = useRef(firstKey);
  const [isAway, setAway] = useState(false);

  function turnOf(key: string | null): Element | null {
    return key === null ? null : (content.current?.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? null);
  }

  // What is first now is about to be pushed down: where it stands is noted before the page changes.
  if (lastFirstKey.current !== firstKey) {
    const first = turnOf(lastFirstKey.current);
    anchor.current = first && { key: lastFirstKey.current ?? '', top: first.getBoundingClientRect().top };
    lastFirstKey.current = firstKey;
  }

  useLayoutEffect(() => {
    const view = scroller.current;
    if (view === null) return;
    if (isAtEnd.current) view.scrollTop = view.scrollHeight;
    else if (anchor.current !== null) {
      const now = turnOf(anchor.current.key)?.getBoundingClientRect().top ?? anchor.current.top;
      view.scrollTop += now - anchor.current.top;
    }
    anchor.current = null;
  });

  // The place for the messages changes too: with the composer, a question, a keyboard on the screen.
  useEffect(() => {
    const view = scroller.current;
    if (view === null || content.current === null) return;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) view.scrollTop = view.scrollHeight;
    });
    observer.observe(view);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  function onScroll({ currentTarget: view }: { currentTarget: HTMLElement }): void {
    isAtEnd.current = view.scrollHeight - view.scrollTop - view.clientHeight < AT_END_PX;
    setAway(!isAtEnd.current);
    if (view.scrollTop < NEAR_START_PX && hasOlder && !isLoadingOlder && !isAtEnd.current) onLoadOlder();
  }

  function toEnd(): void {
    const view = scroller.current;
    if (view === null) return;
    isAtEnd.current = true;
    setAway(false);
    view.scrollTop = view.scrollHeight;
  }

  return (
    <div class="messages">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={scroller} class="messages-scroll" aria-label="Messages" tabIndex={0} onScroll={onScroll}>
        <div ref={content} class="messages-content">
          {hasOlder && (
            <button type="button" class="button older" disabled={isLoadingOlder} onClick={onLoadOlder}>
              {isLoadingOlder ? 'Loading older messages…' : 'Load older messages'}
            </button>
          )}
          {children}
        </div>
      </section>
      {isAway && (
        <button type="button" class="button latest" onClick={toEnd}>
          <Icon name="arrow-down" />
          Jump to latest
        </button>
      )}
    </div>
  );
}
