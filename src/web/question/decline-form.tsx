import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The second step of declining: a reason, for who wants to give one. */
export function DeclineForm({ onDecline, onBack }: { onDecline(reason: string | null): void; onBack(): void }) {
  const [reason, setReason] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useLayoutEffect(() => input.current?.focus(), []);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      send();
    }
    if (event.key === 'Escape') onBack();
  }

  function send(): void {
    onDecline(reason.trim() === '' ? null : reason.trim());
  }

  return (
    <div class="decline">
      <label for={id}>Why? The agent is told, and goes on without an answer. (optional)</label>
      <div class="decline-row">
        <input
          ref={input}
          id={id}
          class="input"
          type="text"
          maxLength={1000}
          dir="auto"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="button" onClick={onBack}>
          Back
        </button>
        <button type="button" class="button button-danger" onClick={send}>
          Decline question
        </button>
      </div>
    </div>
  );
}
