import type { Toasts } from '../toasts.ts';
import { IconButton } from './icon-button.tsx';

export function ToastList({ toasts }: { toasts: Toasts }) {
  return (
    <div class="toasts" role="log" aria-label="Notices" aria-live="polite">
      {toasts.shown.value.map(({ id, text }) => (
        <div key={id} class="toast">
          <p dir="auto">{text}</p>
          <IconButton icon="close" name="Dismiss" onClick={() => toasts.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
