import type { OutgoingEntry } from '../../client/index.ts';
import { Icon } from '../ui/icon.tsx';
import { Sending } from '../ui/sending.tsx';

interface OutgoingRowProps {
  entry: OutgoingEntry;
  /** Takes it out, and puts its text back into the composer. */
  onTakeBack(entry: OutgoingEntry): void;
}

/** A message on its way to the server, or one that it refused. */
export function OutgoingRow({ entry, onTakeBack }: OutgoingRowProps) {
  return (
    <article class="said said-user said-outgoing" aria-label="You">
      <p class="bubble" dir="auto">
        {entry.content}
      </p>
      {entry.status === 'sending' ? (
        <div class="said-foot">
          <Sending />
        </div>
      ) : (
        <div class="said-foot fault">
          <Icon name="warning" />
          <span>Not sent: {entry.error?.message}</span>
          <button type="button" class="link-button" onClick={() => onTakeBack(entry)}>
            Edit and send again
          </button>
        </div>
      )}
    </article>
  );
}
