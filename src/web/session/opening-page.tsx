import { Icon } from '../ui/icon.tsx';
import { Mark } from '../ui/mark.tsx';

/** What the page shows until it knows who asks: the same that it was sent with. */
export function OpeningPage({ failure }: { failure: string | null }) {
  return (
    <div class="shell" data-page="start">
      <div class="shell-brand">
        <span class="brand">
          <Mark />
          Holdfast
        </span>
      </div>
      <main class="shell-main">
        {failure !== null && (
          <p class="notice fault" role="alert">
            <Icon name="warning" />
            {failure} It is tried again.
          </p>
        )}
      </main>
    </div>
  );
}
