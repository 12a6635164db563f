import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';

interface ComposerProps {
  text: string;
  onText(text: string): void;
  onSend(): void;
  placeholder: string;
  isSending?: boolean;
  /** Where an agent can be stopped. */
  onStop?: (() => void) | undefined;
  /** Stands at the left of the buttons. */
  children?: ComponentChildren;
}

export const COMPOSER_ID = 'composer';
const MAX_HEIGHT_PX = 240;

/** Where messages are written. Enter sends, Shift and Enter begins a line; what an input method composes is left alone. */
export function Composer(props: ComposerProps) {
  const { text, onText, onSend, placeholder, isSending = false, onStop, children } = props;
  const area = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    const shown = area.current;
    if (shown === null) return;
    shown.style.height = 'auto';
    shown.style.height = `${Math.min(shown.scrollHeight, MAX_HEIGHT_PX)}px`;
  }, [text]);

  function onKeyDown(event: KeyboardEvent): void {
    // The key that ends a composition is 229 in Safari, where the composition is over by then.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    send();
  }

  function send(): void {
    if (text.trim() !== '' && !isSending) onSend();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        id={COMPOSER_ID}
        class="composer-text"
        rows={1}
        aria-label="Message"
        placeholder={placeholder}
        dir="auto"
        enterkeyhint="send"
        value={text}
        disabled={isSending}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="composer-foot">
        <div class="composer-more">{children}</div>
        {onStop !== undefined && (
          <button type="button" class="button composer-stop" onClick={onStop}>
            <Icon name="stop" />
            Stop
          </button>
        )}
        <button
          type="submit"
          class="icon-button composer-send"
          aria-label="Send"
          title="Send"
          disabled={text.trim() === '' || isSending}
        >
          <Icon name="arrow-up" />
        </button>
      </div>
    </form>
  );
}
