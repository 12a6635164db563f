import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** What a place says that has nothing in it, and what to do about that. */
export function EmptyState({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
    </div>
  );
}
